"""How the tests are dealt to processes: files of a folder to one of them, as long as there are any.

Tests of a folder call the same kernels. Where two processes begin a folder together, either
compiles them all. Folders that try every model a little come last: what they call lies on disk
then, and parts of it need not be compiled in their process as well.
"""

from pathlib import PurePosixPath
from typing import Any

from xdist.scheduler import LoadFileScheduling

OF_ALL_MODELS = ("docs", "saving", "cli", "report", "compat")


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
        first = [file for file in free if PurePosixPath(folder(file)).name not in OF_ALL_MODELS]
        return (mine or first or free or waiting)[0]


def folder(file: str) -> str:
    """Folder of a file of tests.

    Examples
    --------
    >>> from tests.spreading import folder
    >>> folder("tests/core/test_gibbs.py")
    'tests/core'
    """
    return str(PurePosixPath(file).parent)
