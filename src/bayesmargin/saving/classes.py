"""The classes that a file may name; nothing else is ever made.

A file names a class by its key. A dataclass or NamedTuple is rebuilt by calling it with its fields;
of any other class the attributes are listed here, and a file must give exactly these. Whoever owns
classes tells their keys by :func:`register`; a class is imported when a file holds one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Stored:
    """Where a class lives, and how it is taken apart."""

    module: str
    name: str
    attributes: tuple[str, ...] = ()
    """Attributes of a class that is neither dataclass nor NamedTuple."""
    dropped: dict[str, Any] = field(default_factory=dict)
    """Attributes that are not stored, and what they are after loading."""
    later: dict[str, Any] = field(default_factory=dict)
    """Attributes that files of before lack, and what they are then."""
    former: dict[str, str | None] = field(default_factory=dict)
    """Attributes by their names in files of before, with those of today; None: nobody needs it."""

    def load(self) -> type:
        """The class itself."""
        found: type = getattr(import_module(self.module), self.name)
        return found


CLASSES: dict[str, Stored] = {}
_KEYS: dict[tuple[str, str], str] = {}


def stored(module: str, *names: str, prefix: str = "") -> dict[str, Stored]:
    """Entries of classes of one module, keyed by their names behind a prefix.

    Examples
    --------
    >>> from bayesmargin.saving.classes import stored
    >>> list(stored("bayesmargin.dynamics.steps", "Constant", "AdaGrad", prefix="steps."))
    ['steps.Constant', 'steps.AdaGrad']
    """
    return {prefix + name: Stored(module, name) for name in names}


def register(classes: Mapping[str, Stored]) -> None:
    """Let files name these classes.

    Raises
    ------
    ValueError
        If a key names another class already.
    """
    for key, entry in classes.items():
        if CLASSES.get(key, entry) != entry:
            raise ValueError(
                f"{key!r} names {CLASSES[key].module}.{CLASSES[key].name} already, and not "
                f"{entry.module}.{entry.name}: choose another key"
            )
        CLASSES[key] = entry
        _KEYS[entry.module, entry.name] = key


def key_of(kind: type) -> str | None:
    """Name under which a class may be stored, None when it may not."""
    return _KEYS.get((kind.__module__, kind.__qualname__))
