"""What saving knows of the kernel model: its map and draws, and what a loaded one must hold."""

from typing import Any

import numpy as np

from bayesmargin.models.saved.linear import check_draws, layout
from bayesmargin.models.saved.requiring import require, require_array, require_number
from bayesmargin.saving.classes import Stored, stored

_KERNELS = "bayesmargin.models.kernel.kernels"

__all__ = ["CLASSES", "check", "layout"]

CLASSES: dict[str, Stored] = {
    **stored("bayesmargin.models.kernel.landmarks", "FeatureMap"),
    **stored("bayesmargin.models.kernel.fourier", "FourierMap"),
    **stored("bayesmargin.models.kernel.gaussian", "GaussianDiagnostics"),
    **stored(_KERNELS, "RBF", "Laplacian", "Linear", "Cosine", "Precomputed", prefix="kernels."),
    "kernels.Polynomial": Stored(_KERNELS, "PolynomialKernel"),
}


def check(model: Any, features: int) -> None:
    """Raise where parts of a model of so many columns do not fit each other."""
    from bayesmargin.models.kernel.fourier import FourierMap
    from bayesmargin.models.kernel.kernels import RBF, Kernel, Precomputed, kernel_of
    from bayesmargin.models.kernel.landmarks import FeatureMap
    from bayesmargin.models.kernel.settings import check_kernel_settings

    check_kernel_settings(model)
    found = model.map_
    require(isinstance(found, FeatureMap | FourierMap), "map_")
    require(isinstance(found.kernel, Kernel), "kernel of the map")
    require(found.kernel == kernel_of(model.kernel), "kernel of the map")
    mixing = require_array(found.mixing, [None, None], "f", "mixing of the map")
    if isinstance(found, FourierMap):
        require(isinstance(found.kernel, RBF) and found.kernel.of_waves, "kernel of the map")
        require(mixing.shape[1] <= len(mixing), "mixing of the map")
        require_array(found.frequencies, [features, len(mixing) // 2], "f", "frequencies")
    elif isinstance(found.kernel, Precomputed):
        points = require_array(found.landmarks, [len(mixing)], "i", "landmarks")
        require(bool(np.all((points >= 0) & (points < features))), "landmarks")
    else:
        require_array(found.landmarks, [len(mixing), features], "f", "landmarks")
    for name in ("gamma", "own", "usual"):
        require(isinstance(getattr(found, name), float | int), f"{name} of the map")
    require(0.0 <= found.usual < 1.0, "usual of the map")
    for name in ("C_", "gamma_", "prior_scale_"):
        require_number(getattr(model, name), name)
    blocks = 1 if len(model.classes_) == 2 else len(model.classes_)
    require_array(model.resting_, [blocks], "f", "resting_")
    check_draws(model, mixing.shape[1])
    intercept = model.posterior_["intercept"]
    require_array(model.posterior_["unseen"], list(intercept.shape), "f", "unseen")
    if hasattr(model, "pulls_"):
        count = len(require_array(model.pulls_, [None], "f", "pulls_"))
        require_array(model.active_, [count], "f", "active_")
