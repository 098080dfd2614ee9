"""How benchmarks measure: clocks, memory, the data, and the frameworks' drivers."""
