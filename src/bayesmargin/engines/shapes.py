"""What a problem is called by its shape, before anything of JAX is imported."""

WIDE = 64  # features and scores of a head, at least


def is_head(n_scores: int, n_columns: int) -> bool:
    """Whether rows are embeddings under many scores: products of matrices take the time.

    Examples
    --------
    >>> from bayesmargin.engines.shapes import is_head
    >>> is_head(1000, 384), is_head(1, 384)
    (True, False)
    """
    return min(n_scores, n_columns) >= WIDE
