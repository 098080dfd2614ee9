"""The command `boostplug` (`app`), the check of an installation (`doctor`), and compiling all kernels (`warm_up`)."""


def main() -> None:
    """Run the command line."""
    from boostplug.cli.app import main as run

    run()
