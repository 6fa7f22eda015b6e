"""From predicted labels to measures, and whether their differences are real."""
