"""``python -m xassay`` and the ``xassay`` command."""

import signal
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from xassay.cli import run

    # ended politely, a run stops as by Ctrl-C: workers end, finished parts are kept
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
