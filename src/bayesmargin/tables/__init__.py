"""Files as people keep them: reading tables, matrices and documents, and preparing them.

A :class:`Table` comes from :func:`read_table`; a :class:`Preparation` turns it into the matrix
that a model reads and is saved with the model as JSON.
"""

from bayesmargin.tables.column_preparation import ColumnPreparation
from bayesmargin.tables.matrix_preparation import MatrixPreparation
from bayesmargin.tables.preparation import Preparation
from bayesmargin.tables.reading import FORMATS, format_of, read_table
from bayesmargin.tables.table import Reading, Table
from bayesmargin.tables.text_preparation import TextPreparation

__all__ = [
    "FORMATS",
    "ColumnPreparation",
    "MatrixPreparation",
    "Preparation",
    "Reading",
    "Table",
    "TextPreparation",
    "format_of",
    "read_table",
]
