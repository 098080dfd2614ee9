"""Shared utilities: checks of arguments, threads, files, optional libraries, values with parameters."""
