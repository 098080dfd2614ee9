"""The command as ``python -m boostplug.cli``."""

from boostplug.cli import main

main()
