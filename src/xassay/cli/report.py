"""``xassay report``."""

from pathlib import Path


def report(folder: Path, /) -> int:
    """Print a finished run's tables and write its report.html anew; exit code 1 if anything failed.

    Example: xassay report runs/demo

    Args:
        folder: Folder of the run.
    """
    from xassay import report as reports
    from xassay import terminal

    path = reports.write(folder)
    shown = reports.load(folder)
    terminal.print_failures(shown)
    terminal.print_view(shown)
    terminal.say(f"report: {path}")
    return int(bool(shown.failures))
