"""``bayesmargin topics``: the words of each topic and what it says about the classes."""

from typing import Annotated, Any

import typer

from bayesmargin.cli.options import Debug, Json, Model, Quiet


def topics(
    model: Model,
    words: Annotated[int, typer.Option(help="Words shown of every topic.", min=1)] = 10,
    classes: Annotated[int, typer.Option(help="Classes shown of every topic.", min=1)] = 3,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Print the most probable words of every topic, and the classes that it speaks for.

    A weight is the posterior mean of the classifier's weight of the topic: positive weights speak
    for a class. Topics are those of the first chain.
    """
    import numpy as np

    from bayesmargin.cli.failures import usage_error
    from bayesmargin.cli.models import load_saved
    from bayesmargin.cli.output import Output

    saved = load_saved(model)
    estimator = saved.estimator
    if not hasattr(estimator, "top_words"):
        raise usage_error(f"{model} is a {type(estimator).__name__}, which has no topics")
    names = [str(name) for name in estimator.classes_]
    listing = estimator.top_words(saved.feature_names, n=words)
    weights = np.asarray(estimator.coef_)
    weights = np.vstack([-weights, weights]) if len(weights) == 1 else weights
    output = Output(as_json, quiet)
    found: list[dict[str, Any]] = []
    for k, top in enumerate(listing):
        order = np.argsort(-weights[:, k], kind="stable")[:classes]
        best = [  # of one model a class, topics of the others have no weight
            {"class": names[i], "weight": float(weights[i, k])} for i in order if weights[i, k]
        ]
        found.append({"topic": k + 1, "words": list(top), "classes": best})
    output.table(
        ["topic", "words", "speaks for (weight)"],
        [
            [
                topic["topic"],
                " ".join(topic["words"]),
                ", ".join(f"{one['class']} ({one['weight']:+.1f})" for one in topic["classes"]),
            ]
            for topic in found
        ],
    )
    output.answer({"model": str(model), "topics": found})
