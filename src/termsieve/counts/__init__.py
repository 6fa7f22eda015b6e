"""From documents to counts: how often each term stands in each class, exact and mergeable."""
