"""The version, in a file of its own: the build and every module can read it without importing anything."""

__version__ = "0.2.0.dev0"
