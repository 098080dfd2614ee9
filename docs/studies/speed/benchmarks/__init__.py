"""The benchmarks, a file each; `costs` does the arithmetic of `scaling`."""
