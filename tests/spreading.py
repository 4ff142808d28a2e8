"""How the tests are dealt to processes: files of a folder to one of them, as long as there are any.

Tests of a folder call the same kernels. Where two processes begin a folder together, either
compiles them all.
"""

from pathlib import PurePosixPath
from typing import Any

from xdist.scheduler import LoadFileScheduling


class ByFolder(LoadFileScheduling):
    """A process goes on with the folder that it is in, then begins one where nobody is."""

    def _assign_work_unit(self, node: Any) -> None:
        self.workqueue.move_to_end(self._next_file(node), last=False)
        super()._assign_work_unit(node)

    def _next_file(self, node: Any) -> str:
        last = {n: folder(list(files)[-1]) for n, files in self.assigned_work.items() if files}
        own, others = last.pop(node, None), set(last.values())
        waiting = list(self.workqueue)
        mine = [file for file in waiting if folder(file) == own]
        free = [file for file in waiting if folder(file) not in others]
        return (mine or free or waiting)[0]


def folder(file: str) -> str:
    """Folder of a file of tests.

    Examples
    --------
    >>> from tests.spreading import folder
    >>> folder("tests/core/test_gibbs.py")
    'tests/core'
    """
    return str(PurePosixPath(file).parent)
