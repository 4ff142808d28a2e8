"""The library's own warnings and errors, one category for each thing that can go wrong."""


class BayesmarginWarning(UserWarning):
    """Base class: silence or raise everything this library says with one filter."""


class ConvergenceWarning(BayesmarginWarning):
    """The chains disagree or hold too few effective draws; the posterior should not be trusted."""


class BiasWarning(BayesmarginWarning):
    """The chains agree, but the bias check says that they sample something too wide or shifted."""


class CoverageWarning(BayesmarginWarning):
    """Intervals that should cover as often as they say may not, for a reason seen in the rows."""


class StepSizeWarning(BayesmarginWarning):
    """A step was too large for the target and was made smaller, or it is so small that it drags."""


class ScalingWarning(BayesmarginWarning):
    """Values so far from zero, or so narrow, that a model cannot use them well as they are."""


class CapacityWarning(BayesmarginWarning):
    """The model is too small for the data, such as fewer topics than classes."""


class InterruptedWarning(BayesmarginWarning):
    """Sampling was stopped by the user; the posterior holds the draws made until then."""


class DivergenceError(ArithmeticError):
    """A chain left every bounded region: the step chosen is too large for this target."""


class PartitionError(RuntimeError):
    """A partition of a Dask collection could not be read, or holds what a fit cannot use."""


class ClusterError(RuntimeError):
    """The Dask cluster cannot finish the work: its scheduler is gone, or a task kills workers."""


class DataError(ValueError):
    """A file or table cannot be used as it is; the message says where and what to do."""


class CheckpointWarning(BayesmarginWarning):
    """A checkpoint could not be written or was damaged; the message says what was done instead."""


class SavedModelError(ValueError):
    """A saved model cannot be trusted: damaged, incomplete, newer than this library, or foreign."""


class CheckpointError(ValueError):
    """A checkpoint cannot be used: it belongs to other data or settings, or is damaged."""
