"""Measuring: clocks, memory, data, and the frameworks' drivers."""
