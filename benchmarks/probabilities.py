"""Log loss of ``predict_proba`` against a calibrated ``LinearSVC``, from one fit without hold-out.

    python benchmarks/probabilities.py [set ...]

Both take their default settings; the sets are those of ``posterior_accuracy.py``.
"""

from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import accuracy_score, log_loss
from sklearn.svm import LinearSVC

from bayesmargin import BayesianLinearSVC
from binary_sets import BINARY_SETS, binary_sets
from options import chosen_sets
from reporting import finish

if __name__ == "__main__":
    table = []
    for name, (X, y, X_test, y_test) in binary_sets(chosen_sets(__doc__, BINARY_SETS)):
        model = BayesianLinearSVC(random_state=0).fit(X, y)
        peer = CalibratedClassifierCV(LinearSVC(random_state=0)).fit(X, y)
        losses = [log_loss(y_test, one.predict_proba(X_test)) for one in (model, peer)]
        votes = model.predict_votes(X_test).clip(1e-6, 1 - 1e-6)
        hits = [accuracy_score(y_test, one.predict(X_test)) for one in (model, peer)]
        ratio = losses[0] / losses[1]
        row = [name, *losses, ratio, log_loss(y_test, votes), *hits, ratio <= 1.02]
        table.append(row)
        print(*row, flush=True)
    header = [
        "set", "log_loss", "calibrated", "ratio", "votes_log_loss", "accuracy",
        "calibrated_accuracy", "met",
    ]  # fmt: skip
    better = sum(row[3] < 1.0 for row in table)
    print(f"better on {better} of {len(table)} sets")
    finish("probabilities", header, table, all(row[-1] for row in table) and better >= 2)
