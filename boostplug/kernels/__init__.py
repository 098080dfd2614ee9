"""Numba kernels: sums over the documents or pairs of one query, driven over queries by `boostplug.core.threads`."""
