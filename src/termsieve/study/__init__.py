"""From documents to a comparison: scores, classifiers and numbers of terms, judged on the same splits."""
