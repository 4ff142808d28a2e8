"""Linear regression with kinks in its loss: support vector regression and quantiles.

:mod:`.units` measures values, :mod:`.noise` what ``"auto"`` stands for, :mod:`.sampling` makes a
problem of every score and samples it, :mod:`.training` and :mod:`.predictions` are what the
estimators :mod:`.svr` and :mod:`.quantiles` share.
"""
