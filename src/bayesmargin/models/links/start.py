r"""Where a chain begins: entities that are linked alike share a feature.

From a start without features a chain would have to find them one entity at a time: a feature that
one entity alone holds explains no link. So entities are clustered by whom they are linked to,

.. math:: S = \sum_r M_r M_r^T + M_r^T M_r,

normalised, by k-means on its leading eigenvectors, and each cluster is a feature. Chains begin at
different numbers of clusters from different seeds.
"""

import numpy as np
from scipy.cluster.vq import kmeans2

from bayesmargin.foundation.types import IntArray
from bayesmargin.models.links.pairs import Pairs

FEWEST, MOST = 1.0 / 16.0, 1.0 / 6.0  # clusters an entity


def clusters_of(
    rng: np.random.Generator, pairs: Pairs, n_entities: int, n_relations: int, symmetric: bool
) -> IntArray:
    """Features (entity, feature) that are clusters, none of them empty."""
    links = np.zeros((n_relations, n_entities, n_entities))
    known = pairs.side > 0.0
    links[pairs.relation[known], pairs.source[known], pairs.target[known]] = 1.0
    if symmetric:
        links += np.swapaxes(links, 1, 2)
    likeness = np.einsum("rij,rkj->ik", links, links, optimize=True)
    likeness += np.einsum("rji,rjk->ik", links, links, optimize=True)
    root = np.sqrt(np.maximum(likeness.sum(axis=1), 1.0))
    size = max(2, round(float(rng.uniform(FEWEST, MOST)) * n_entities))
    _, vectors = np.linalg.eigh(likeness / np.outer(root, root))
    leading = vectors[:, -size:]
    _, label = kmeans2(leading, size, minit="++", seed=rng, missing="warn", iter=20)
    found = np.unique(label)
    matrix: IntArray = (label[:, None] == found).astype(np.int64)
    return matrix
