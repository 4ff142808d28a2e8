"""What can go wrong, in one sentence and with an exit code that a script can use."""

import io
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from typer.core import TyperGroup

EXIT_CODES = (
    "0 done, 1 failure, 2 usage, 3 bad data, 4 model or checkpoint not trusted, 5 finished but the "
    "diagnostics say do not trust it (only with --strict), 130 interrupted"
)
FAILURE, USAGE, DATA, UNTRUSTED, DOUBTFUL, INTERRUPTED = 1, 2, 3, 4, 5, 130
KINDS = {
    FAILURE: "failure",
    USAGE: "usage",
    DATA: "data",
    UNTRUSTED: "model",
    DOUBTFUL: "diagnostics",
    INTERRUPTED: "interrupted",
}
# By name, so that a failing command line imports nothing: class of an error to exit code.
CODES = {
    "DataError": DATA,
    "DataFormatError": DATA,
    "DataNotFoundError": DATA,
    "ChecksumError": DATA,
    "SavedModelError": UNTRUSTED,
    "CheckpointError": UNTRUSTED,
    "DivergenceError": FAILURE,
    "MemoryError": FAILURE,
    "PermissionError": FAILURE,
}


class CommandError(Exception):
    """A command cannot go on; the message is for the reader."""

    def __init__(self, message: str, code: int = FAILURE) -> None:
        super().__init__(message)
        self.code = code


def usage_error(message: str) -> CommandError:
    """Options that do not go together or do not exist."""
    return CommandError(message, USAGE)


class GuardedGroup(TyperGroup):
    """Commands whose errors become one sentence on stderr, or one JSON document on stdout."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an interrupt is told like any other error."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise CommandError("interrupted", INTERRUPTED) from error

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; with ``standalone_mode`` leave Python with its exit code."""
        words = list(sys.argv[1:] if args is None else args)
        whole = super().main
        _require_printable()

        def run() -> Any:
            _require_no_gap(words)
            return whole(words, prog_name, complete_var, False, windows_expand_args, **extra)

        code = guarded(run, words)
        if standalone_mode:
            sys.exit(code)
        return code


def _require_printable() -> None:
    """Have what a stream cannot encode escaped: Windows writes to files in an alphabet of few."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _require_no_gap(words: Sequence[str]) -> None:
    """Refuse empty words: as paths they would be the present folder, whatever it holds."""
    if "" in words:
        before = ["bayesmargin", *words][words.index("")]
        raise usage_error(
            f"the argument after {before!r} is empty (is a variable of the shell not set?)"
        )


def guarded(run: Callable[[], Any], words: Sequence[str]) -> int:
    """Exit code of a run whose errors are told as the words of the command line ask."""
    options = words[: words.index("--")] if "--" in words else words
    try:
        code = run()
        return code if isinstance(code, int) else 0
    except CommandError as error:
        return _tell(error, str(error), error.code, options)
    except Exception as error:
        if hasattr(error, "format_message"):  # the parser's own
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()  # type: ignore[attr-defined]
                return USAGE
            return _tell(error, _asked(error), USAGE, options)
        known = [CODES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in CODES]
        if known or isinstance(error, OSError | ValueError | ImportError):
            return _tell(error, _sentence(error), known[0] if known else FAILURE, options)
        message = f"unexpected {_sentence(error)} (--debug shows where)"
        return _tell(error, message, FAILURE, options)


def _asked(error: Any) -> str:
    """The parser's message and where to read on."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "bayesmargin"
    message = " ".join(error.format_message().split())
    return f"{message.removesuffix('.')}; see {path} --help"


def _sentence(error: BaseException) -> str:
    """Message of an error on one line, with the kind of error where the message is empty."""
    message = " ".join(str(error).split())
    if not message:
        return type(error).__name__
    known = any(kind.__name__ in CODES for kind in type(error).__mro__)
    return (
        message if known or isinstance(error, ValueError) else f"{type(error).__name__}: {message}"
    )


def _tell(error: BaseException, message: str, code: int, options: Sequence[str]) -> int:
    if "--debug" in options:
        traceback.print_exception(error, file=sys.stderr)
    if "--json" in options:
        document = {"error": {"kind": KINDS.get(code, "failure"), "code": code, "message": message}}
        try:
            sys.stdout.write(json.dumps(document, indent=2) + "\n")
            return code
        except OSError:  # the disk is full, and that may be what is to be told
            pass
    sys.stderr.write(f"bayesmargin: error: {message}\n")
    return code
