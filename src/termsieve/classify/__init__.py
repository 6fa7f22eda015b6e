"""Matrices, labels and a ranking come in; predictions for every number of terms go out.

::

    recipes              classifiers by name
    curves               predictions along a ranking
    curve_kernels        numba loops of the curves
    sweep_coefficients   scores of naive Bayes along a ranking
    poisson              PoissonNB
    probit               ProbitClassifier
    probit_kernels       numba loop of the Laplace prior
"""
