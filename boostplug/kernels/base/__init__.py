"""Utilities of all kernels. Read `compiling`, then `views`; `arithmetic`, `simd` and `sorting` as you meet them.

`single_precision` makes float32 of derivatives for the frameworks, `rows` multiplies the derivatives of a query.
"""
