"""From raw messages to topics, a picture and predictions: MedLDA on 20 Newsgroups.

    python examples/medlda_newsgroups.py [folder for the picture]

The guide docs/guides/medlda.md explains every step.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_20newsgroups_raw
from bayesmargin.models.medlda import coherence, plot_class_topics


def main(folder: Path) -> None:
    train, test = fetch_20newsgroups_raw(), fetch_20newsgroups_raw(subset="test")
    counter = CountVectorizer(
        stop_words="english", min_df=3, max_df=0.2, token_pattern=r"(?u)\b[a-z]{3,}\b"
    )
    X, new = counter.fit_transform(train.data), counter.transform(test.data)
    words = counter.get_feature_names_out()
    print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.sum()} tokens")

    model = MedLDAClassifier(n_topics=50, random_state=0, n_jobs=-1, verbose=1)
    model.fit(X, train.target)

    print(f"accuracy, topics integrated out: {model.score(new, test.target):.3f}")
    one = np.mean(model.predict(new, draws=1) == test.target)
    print(f"accuracy, one draw a chain:      {one:.3f}")
    chance = model.predict_proba(new)[np.arange(new.shape[0]), test.target]
    print(f"log loss of the probabilities:   {-np.log(chance).mean():.3f}")
    print(f"perplexity of held-out words:    {model.perplexity(new):.0f}")

    means = model.class_topics(new, test.target)
    tops = model.top_words(words, n=8)
    quality = coherence(model.topics_, X)
    for name, shares in zip(test.target_names, means, strict=True):
        topic = int(shares.argmax())
        listed = " ".join(tops[topic])
        print(f"{name:>26}  {shares[topic]:.2f}  NPMI {quality[topic]:+.2f}  {listed}")

    axes = plot_class_topics(means, test.target_names, [" ".join(top[:2]) for top in tops])
    folder.mkdir(parents=True, exist_ok=True)
    axes.figure.savefig(folder / "medlda_classes.png", dpi=120)
    print(f"picture: {folder / 'medlda_classes.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
