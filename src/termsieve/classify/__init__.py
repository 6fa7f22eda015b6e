"""Matrices, labels and a ranking come in; predictions for every number of terms go out.

::

    recipes              classifiers by name
    curves               predictions along a ranking
    curve_task           what is asked of them, checked
    bayes_sweep          naive Bayes along a ranking: one sweep
    curve_kernels        numba loops of it
    sweep_coefficients   scores of naive Bayes along a ranking
    linear_svm           LinearSVM
    linear_path          linear support vector machines along a ranking: Newton's method
    linear_systems       the linear system of a step, kept from the last
    linear_descent       a quick way to the optimum where a solution has no near start
    ranked_rows          documents x ranked columns, at each number of columns
    linear_tuning        the choice of their C
    linear_decisions     weighted sums, and classes by them
    convergence          the warning of a fit that ends early
    linear_kernels       numba loops of them
    logistic_path        logistic regression along a ranking
    poisson              PoissonNB
    vocabulary_nb        multinomial naive Bayes, smoothed over all words
    probit               ProbitClassifier
    probit_kernels       numba loop of the Laplace prior
"""
