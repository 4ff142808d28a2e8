"""How test files are shared out among processes that fill one cache of compiled code.

Files of a folder need the same kernels. Two processes that go through them side by side compile
each kernel twice at the same time, which of an empty cache is minutes of a run. So they start at
the two ends of the list, and meet where both have had enough.
"""

from xdist.scheduler import LoadFileScheduling


class FromBothEnds(LoadFileScheduling):
    """Every second process takes files from the end of the list."""

    def _assign_work_unit(self, node):
        if self.nodes.index(node) % 2:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
