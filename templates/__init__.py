"""The Jinja templates of kernels, plan classes and tables."""
