"""Numba kernels: sums over the documents or pairs of one query, driven over many queries by `boostplug.threads`."""
