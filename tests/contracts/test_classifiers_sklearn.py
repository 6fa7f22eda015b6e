"""Scikit-learn's own checks of estimators, with no failure excused."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from termsieve.classify.recipes import LinearSVM, PoissonNB, ProbitClassifier


@parametrize_with_checks(
    [LinearSVM(), LinearSVM(C="auto"), PoissonNB(), ProbitClassifier(), ProbitClassifier(prior="laplace")]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
