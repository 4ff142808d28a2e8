"""Picture of the time to 400 effective draws against features, rows and classes, and its laws.

    python benchmarks/scaling_picture.py

Reads what ``scaling.py`` has measured, which is the worst of the directions watched, and writes a
picture to ``docs/_static/pictures/``. Exponents are those of the least squares of log times.
"""

import json
from pathlib import Path

import numpy as np

from options import no_options
from scaling import CASES

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "_static" / "pictures" / "scaling.svg"
WANTED = 400  # effective draws
PANELS = {  # what is on the axis, its place in a case, and the cases
    "features": (1, ["30_features", "100_features", "300_features"]),
    "rows": (2, ["300_features_fifth", "300_features_half", "300_features"]),
    "classes": (3, ["10_classes", "30_classes"]),
}


def times(case: str) -> dict[str, float]:
    """Seconds to the effective draws of every side that ended."""
    file = HERE / "results" / f"scaling_{case}.json"
    if not file.exists():
        return {}
    rows = json.loads(file.read_text())["rows"]
    return {row["side"]: WANTED * row["clock"] / row["ess"] for row in rows if row["ess"] > 0.0}


def main() -> None:
    no_options(__doc__)
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "scaling"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(PANELS), figsize=(9.0, 3.0), sharey=True)
    for axis, (name, (place, cases)) in zip(axes, PANELS.items(), strict=True):
        found = {case: times(case) for case in cases}
        for side in ("before", "now"):
            points = [
                (CASES[case][place], found[case][side]) for case in cases if side in found[case]
            ]
            if not points:
                continue
            x, y = np.array(points).T
            axis.loglog(x, y, "o-" if side == "now" else "o--", label=side)
            if len(x) > 1:
                power = np.polyfit(np.log(x), np.log(y), 1)[0]
                print(f"{side}: {name}^{power:.2f} over {x[0]:.0f} to {x[-1]:.0f}")
        axis.set_xlabel(name)
        axis.set_xticks([CASES[case][place] for case in cases])
        axis.get_xaxis().set_major_formatter(matplotlib.ticker.ScalarFormatter())
        axis.minorticks_off()
    axes[0].set_ylabel(f"seconds to {WANTED} effective draws")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})
    print(f"written: {PICTURE.name}")


if __name__ == "__main__":
    main()
