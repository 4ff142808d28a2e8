"""Where rows come from: one Python interface to stream them, one compiled interface to read them.

*Streaming* (:class:`RowSource`): the passes over all data (anchor, screening, predictions) see
blocks of rows, whatever holds them. *Reading* (:func:`row_dot`, :func:`row_add`): inside compiled
loops a layout is a NamedTuple, and these two generics are all that a sampler needs of it.
"""

from bayesmargin.rows.layout import DenseRows, row_add, row_dot
from bayesmargin.rows.source import DenseSource, RowSource

__all__ = ["DenseRows", "DenseSource", "RowSource", "row_add", "row_dot"]
