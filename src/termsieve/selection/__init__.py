"""From a ranking to the chosen terms: how many, and which."""
