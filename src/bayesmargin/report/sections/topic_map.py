"""A map of the topics: those that share words lie close together."""

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.report.context import Context
from bayesmargin.report.frame import COLOURS, Frame, limits, picture, text_width
from bayesmargin.report.markup import Markup, figure, join, number, percent, short, tag

LEAST, LARGEST = 4.0, 26.0  # radius of a disc
MOST = 200  # topics in the map
NAMED = 14  # topics whose first words are written beside them
WORDS = 8  # of a topic, shown on hovering


def places(topics: FloatArray) -> FloatArray:
    r"""Places in the plane whose distances come close to those of the topics (classical scaling).

    The distance of two topics is Hellinger's, :math:`\|\sqrt{\Phi_j} - \sqrt{\Phi_k}\|`, so the
    places are the leading principal components of the square roots.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.report.sections.topic_map import places
    >>> alike = np.array([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]])
    >>> first, second, far = places(alike)
    >>> bool(np.linalg.norm(first - second) < 0.2 * np.linalg.norm(first - far))
    True
    """
    roots = np.sqrt(topics)
    gram = roots @ roots.T
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
    scaled: FloatArray = np.zeros((len(topics), 2))
    for k in range(min(2, len(topics))):
        axis = vectors[:, -1 - k] * np.sqrt(max(values[-1 - k], 0.0))
        scaled[:, k] = axis * np.sign(axis[np.argmax(np.abs(axis))] or 1.0)
    return scaled


def topic_map(context: Context, share: FloatArray | None, speaks_for: IntArray) -> Markup:
    """Discs as large as the ``share`` of the words that topics have, coloured by class."""
    shown = np.arange(len(context.topics))
    if share is not None:
        shown = np.sort(np.argsort(-share, kind="stable")[:MOST])
    shown = shown[:MOST]
    spots = places(context.topics[shown])
    frame = Frame(
        limits(*_ends(spots[:, 0]), share=0.12), limits(*_ends(spots[:, 1]), share=0.12),
        width=680.0, height=420.0, left=10.0, right=10.0, bottom=10.0,
    )  # fmt: skip
    size = np.ones(len(shown)) if share is None else share[shown] / share.max()
    radius = np.maximum(LEAST, LARGEST * np.sqrt(size) * (0.5 if share is None else 1.0))
    order = np.argsort(-radius, kind="stable")  # small discs above large ones
    discs = [
        tag(
            "circle", cx=frame.x(spots[j, 0]), cy=frame.y(spots[j, 1]), r=round(radius[j], 1),
            class_=f"disc f{speaks_for[shown[j]] % len(COLOURS)}",
            data_tip=_tip(context, int(shown[j]), share, speaks_for),
        )
        for j in order
    ]  # fmt: skip
    text = "Topics as discs; the table of topics holds their words, classes and shares."
    chart = picture(frame, text, *discs, _names(context, frame, spots, radius, shown, order))
    meant = "Topics that share words lie close together; the colour is the class that uses one most"
    sized = "" if share is None else ", the area its share of the words of held-out documents"
    return figure(chart, f"{meant}{sized}. Hover or touch for the words.")


def _ends(values: FloatArray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _tip(context: Context, k: int, share: FloatArray | None, speaks_for: IntArray) -> str:
    best = np.argsort(-context.topics[k], kind="stable")[:WORDS]
    words = " ".join(short(context.feature_names[j], 24) for j in best)
    part = "" if share is None else f", {percent(float(share[k]))} of the words"
    return f"topic {number(k + 1)}, {short(context.class_names[speaks_for[k]], 40)}{part}: {words}"


def _names(
    context: Context,
    frame: Frame,
    spots: FloatArray,
    radius: FloatArray,
    shown: IntArray,
    order: IntArray,
) -> Markup:
    """First words of the largest topics, where there is room."""
    labels: list[Markup] = []
    taken: list[tuple[float, float, float]] = []
    for j in order:
        if len(labels) == NAMED:
            break
        word = short(context.topic_names[shown[j]], 22)
        half = 0.5 * text_width(word)
        x = min(max(frame.x(spots[j, 0]), half + 4.0), frame.width - half - 4.0)
        y = frame.y(spots[j, 1]) + 4.0
        if any(abs(x - u) < half + v + 4.0 and abs(y - w) < 15.0 for u, w, v in taken):
            continue
        taken.append((x, y, half))
        labels.append(
            tag(
                "text", word, x=round(x, 1), y=round(y, 1), text_anchor="middle", class_="disc-name"
            )
        )
    return join(labels)
