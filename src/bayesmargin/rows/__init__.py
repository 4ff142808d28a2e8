"""Where rows come from: one Python interface to stream them, one compiled interface to read them.

*Streaming* (:class:`RowSource`): the passes over all data (anchor, screening, predictions) see
blocks of rows, whatever holds them. *Reading* (:func:`row_dot`, :func:`row_add`): inside compiled
loops a layout is a NamedTuple, and a few generics are all that a sampler needs of it.
"""

from bayesmargin.rows.files import FileRows
from bayesmargin.rows.layout import DenseRows, SparseRows, row_add, row_dot
from bayesmargin.rows.opening import open_rows
from bayesmargin.rows.source import DenseSource, RowSource
from bayesmargin.rows.sparse import SparseSource

__all__ = [
    "DenseRows",
    "DenseSource",
    "FileRows",
    "RowSource",
    "SparseRows",
    "SparseSource",
    "open_rows",
    "row_add",
    "row_dot",
]
