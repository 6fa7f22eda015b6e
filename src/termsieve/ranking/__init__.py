"""From scores of cells to an order of the terms: aggregated over the classes, ties decided."""
