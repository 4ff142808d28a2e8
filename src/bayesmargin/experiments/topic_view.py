"""What the topics show: mean topic proportions of each class, and top words."""

from typing import Any

import numpy as np

from bayesmargin import MedLDAClassifier
from bayesmargin.experiments.drawing import panels
from bayesmargin.experiments.results import Result, Verdict
from bayesmargin.experiments.sizes import Setup
from bayesmargin.experiments.topic_runs import newsgroups
from bayesmargin.foundation.types import FloatArray
from bayesmargin.plots import ACCENT, PALE

N_TOPICS, N_WORDS = 50, 10
DOMINANT = 3  # times the third strongest topic: one or two stand out
# Printed words of the groups that the paper shows.
PRINTED = {
    "sci.space": "nasa launch earth",
    "rec.sport.hockey": "team nhl season",
    "sci.crypt": "key chip security law",
    "talk.politics.guns": "gun weapon firearm",
    "talk.politics.mideast": "israel turkish jews arab",
    "comp.graphics": "image jpeg file",
    "sci.med": "food medical doctor",
    "rec.autos": "car engine speed",
    "rec.sport.baseball": "team game runs",
    "soc.religion.christian": "god jesus church bible",
}

TEXT = (
    "Mean topic proportions of the {n_classes} groups of 20 Newsgroups on test documents "
    "({n_topics} topics, {n_documents:,} training documents, accuracy {accuracy:.3f}), and the top "
    "words of the topic that each group uses most. The paper shows bar charts in which a class has "
    "one or two dominant topics. Here the strongest topic of a group holds {first:.2f} of its "
    "words "
    "on average, the two strongest {second:.2f}, and in {dominated} of the {n_classes} groups the "
    "strongest is {dominant} times the third or more. Of the {n_printed} words that the paper "
    "prints for {n_shown} groups, {n_found} are among the {n_words} top words of the group's two "
    "strongest topics here."
)


def run(setup: Setup) -> Result:
    """Fit, average proportions by class, list words."""
    X, y, names, words = newsgroups("train", None, setup.choose(5000, None))
    new, truth, _, _ = newsgroups("test", None, setup.choose(5000, None))
    some = np.linspace(0, len(truth) - 1, setup.choose(2000, len(truth))).astype(int)
    new, truth = new[some], truth[some]
    model = MedLDAClassifier(
        n_topics=N_TOPICS,
        n_chains=1,
        sampler__n_passes=setup.choose(1, 3),
        random_state=setup.seed,
    ).fit(X, y)
    means = model.class_topics(new, truth)
    tops = model.top_words(words, n=N_WORDS)
    strongest = np.argsort(-means, axis=1)
    ranked = -np.sort(-means, axis=1)
    table = [
        {
            "group": name,
            "strongest topic": int(strongest[i, 0]),
            "its share": float(ranked[i, 0]),
            "two strongest": float(ranked[i, :2].sum()),
            "top words": " ".join(tops[strongest[i, 0]]),
            "the paper's words": PRINTED.get(name, ""),
        }
        for i, name in enumerate(names)
    ]
    found = [
        word
        for i, name in enumerate(names)
        for word in PRINTED.get(name, "").split()
        if any(word in tops[k] for k in strongest[i, :2])
    ]
    dominated = int((ranked[:, 0] >= DOMINANT * ranked[:, 2]).sum())
    facts: dict[str, Any] = {
        "n_classes": len(names),
        "n_topics": N_TOPICS,
        "n_documents": X.shape[0],
        "n_words": N_WORDS,
        "accuracy": float(np.mean(model.predict(new) == truth)),
        "first": float(ranked[:, 0].mean()),
        "second": float(ranked[:, :2].sum(axis=1).mean()),
        "dominated": dominated,
        "third": float(ranked[:, 2].mean()),
        "dominant": DOMINANT,
        "n_found": len(found),
        "even": 1.0 / N_TOPICS,
    }
    paper = {
        "n_printed": sum(len(line.split()) for line in PRINTED.values()),
        "n_shown": len(PRINTED),
    }
    verdicts = [
        Verdict(
            "one or two topics dominate a class (in three quarters of the classes or more)",
            dominated >= 0.75 * len(names),
            "In {dominated} of {n_classes} groups the strongest topic is {dominant} times the "
            "third "
            "or more; mean shares {first:.2f}, {second:.2f} (two together) and {third:.2f} "
            "(third), "
            "where even use of all topics would give {even:g}",
        ),
        Verdict(
            "the words that the paper prints are found again (more than half of them)",
            len(found) > 0.5 * paper["n_printed"],
            "{n_found} of {n_printed}",
        ),
    ]
    numbers = [
        {"group": name, "topic": k, "share": float(means[i, k]), "top words": " ".join(tops[k])}
        for i, name in enumerate(names)
        for k in range(N_TOPICS)
    ]
    return Result(
        title="Topics of each class",
        text=TEXT,
        figure=_draw(means, names, tops),
        numbers=numbers,
        facts=facts,
        paper=paper,
        table=table,
        verdicts=verdicts,
    )


def _draw(means: FloatArray, names: list[str], tops: list[list[str]]) -> Any:
    figure, axes = panels(4, 5, 2.5, 1.55, sharex=True, sharey=True)
    order = np.lexsort((-means.max(axis=0), means.argmax(axis=0)))
    for axis, name, shares in zip(axes.flat, names, means, strict=True):
        best = int(shares[order].argmax())
        colours = [ACCENT if k == best else PALE for k in range(len(order))]
        axis.bar(np.arange(len(order)), shares[order], width=0.9, color=colours)
        axis.set_title(name, fontsize=7.5, pad=2)
        early = best < 0.6 * len(order)  # the words stand where the bar does not
        axis.text(
            0.98 if early else 0.03,
            0.93,
            "\n".join(tops[order[best]][:3]),
            transform=axis.transAxes,
            fontsize=6.5,
            ha="right" if early else "left",
            va="top",
            color=ACCENT,
        )
        axis.set_xticks([])
    figure.supxlabel("topics, ordered by the group that uses them most", fontsize=8)
    figure.supylabel("mean share of words", fontsize=8)
    return figure
