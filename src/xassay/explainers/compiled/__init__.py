"""What is compiled, apart from the explainers: it takes a moment to load."""
