"""Rows with binary features whose number nobody knows: the Indian buffet process and its sweep.

What a model of such features shares with others: the prior (:mod:`.prior`), the matrix of a chain
with figures that do not depend on how features are numbered (:mod:`.features`), and a sweep over
all entries, old features and new (:mod:`.sweep`), which asks the model for its likelihood.
"""
