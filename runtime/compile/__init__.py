"""Compiling, caching and loading kernels: units, NVRTC, the disk cache and the loader."""
