"""``xassay data``."""


def list_data() -> int:
    """List the regression tables, and which of them are on this machine.

    Example: xassay data list
    """
    from xassay import tabular, terminal

    rows = [[name, "yes" if tabular.is_here(name) else "xassay data fetch"] for name in tabular.available()]
    terminal.console().print(terminal.table(["table", "on this machine"], rows))
    return 0


def fetch_data(*names: str) -> int:
    """Download UCI tables of the MAPLE evaluation into the cache, each checked against its pinned sum.

    Example: xassay data fetch housing music

    Args:
        names: Tables. Default: all eight.
    """
    from xassay import tabular, terminal

    for name in names or tabular.datasets.SHA256:
        terminal.say(f"{name}: {tabular.fetch(name)}")
    return 0
