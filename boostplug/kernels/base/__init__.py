"""Utilities of all kernels. Read `compiling`, then `views`; `arithmetic`, `simd` and `sorting` as you meet them.

`single_precision` converts derivatives to float32 for the frameworks.
"""
