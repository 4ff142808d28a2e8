"""Every check of scikit-learn that does not feed fractional counts; and all, once rounded."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesmargin import MedLDAClassifier
from bayesmargin.models.medlda import reading
from bayesmargin.models.medlda.documents import check_counts

FRACTIONS = "feeds fractional values, which are refused: the model is for word counts"
FRACTIONAL_CHECKS = """
check_classifiers_classes check_classifiers_multilabel_output_format_decision_function
check_classifiers_multilabel_output_format_predict
check_classifiers_multilabel_output_format_predict_proba
check_classifiers_multilabel_representation_invariance check_classifiers_one_label
check_classifiers_regression_target check_classifiers_train check_decision_proba_consistency
check_dict_unchanged check_dont_overwrite_parameters check_dtype_object
check_estimator_sparse_array check_estimator_sparse_matrix check_estimator_sparse_tag
check_estimators_dtypes check_estimators_fit_returns_self check_estimators_nan_inf
check_estimators_overwrite_params check_estimators_partial_fit_n_features
check_estimators_pickle check_f_contiguous_array_estimator check_fit2d_1feature
check_fit2d_1sample check_fit2d_predict1d check_fit_check_is_fitted check_fit_idempotent
check_fit_score_takes_y check_methods_sample_order_invariance check_methods_subset_invariance
check_n_features_in check_n_features_in_after_fitting check_pipeline_consistency
check_readonly_memmap_input check_supervised_y_2d check_transformer_data_not_an_array
check_transformer_general check_transformer_preserve_dtypes
"""


def expected_failures(estimator):
    return dict.fromkeys(FRACTIONAL_CHECKS.split(), FRACTIONS)


SMALL = MedLDAClassifier(
    n_topics=4, sampler__n_passes=8, sampler__batch_size=16, n_draws=2, n_chains=1
)


@parametrize_with_checks([SMALL], expected_failed_checks=expected_failures)
def test_contract(estimator, check):
    check(estimator)


def round_first(matrix, name):
    counts = sp.csr_matrix(matrix, copy=True).astype(float)
    counts.data = np.where(counts.data < 0.0, counts.data, np.floor(3.0 * counts.data))
    return check_counts(counts, name)


@parametrize_with_checks(
    [SMALL],
    expected_failed_checks=lambda _: {
        "check_decision_proba_consistency": "feeds negative counts in spite of positive_only"
    },
)
def test_contract_when_values_are_rounded(estimator, check, monkeypatch):
    """The exemptions above hide nothing else: with whole numbers every check passes."""
    monkeypatch.setattr(reading, "check_counts", round_first)
    check(estimator)
