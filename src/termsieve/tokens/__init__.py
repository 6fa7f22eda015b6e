"""From text to terms: the analyzer defines them, the kernels find them fast, and a vocabulary numbers them."""
