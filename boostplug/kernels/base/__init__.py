"""What all kernels use. Read `compiling`, then `views`; `arithmetic`, `simd` and `sorting` as you meet them."""
