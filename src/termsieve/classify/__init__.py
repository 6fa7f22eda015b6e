"""From selected terms to labels: named classifiers, and exact predictions for every number of terms."""
