"""The command `boostplug` (`app`) and the check of an installation (`doctor`)."""


def main() -> None:
    """Run the command line."""
    from boostplug.cli.app import main as run

    run()
