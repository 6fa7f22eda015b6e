"""Scikit-learn's own checks of estimators, with no failure excused."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from termsieve.classify.recipes import PoissonNB, ProbitClassifier


@parametrize_with_checks([PoissonNB(), ProbitClassifier(), ProbitClassifier(prior="laplace")])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
