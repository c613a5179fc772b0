"""``python -m xassay`` and the ``xassay`` command."""

import io
import signal
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from xassay import supervised

    arguments = sys.argv[1:]
    is_child = supervised.is_child()
    if not is_child and arguments[:1] and arguments[0] in supervised.COMMANDS:
        sys.exit(supervised.run(arguments))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a name that the terminal's encoding lacks is written out, and no reason to fail
            stream.reconfigure(errors="backslashreplace")
    from xassay.cli import run

    # ended politely, a run stops as by Ctrl-C: workers end, finished parts are kept
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    code = run(arguments)
    sys.exit(supervised.told(code) if is_child else code)


if __name__ == "__main__":
    main()
