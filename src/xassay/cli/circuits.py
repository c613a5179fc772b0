"""``xassay circuits``."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from xassay.cli.options import described, numbers, split

_LAYOUT = "parquet (one file a version), or study (the CSV folders of the public data set)."


def list_circuits() -> int:
    """List the circuits of the study.

    Example: xassay circuits list
    """
    from xassay import circuits, terminal

    rows = []
    for name in circuits.EMBEDDED:
        c = circuits.load(name)
        sizes = (len(c.inputs), len(c.outputs), len(c.gates))
        rows.append([name, *map(str, sizes), " ".join(circuits.STUDY_FAULTS[name])])
    terminal.console().print(
        terminal.table(["circuit", "inputs", "outputs", "gates", "gates that the study negated"], rows)
    )
    return 0


def show(circuit: str) -> int:
    """Show a circuit's gates, and for each single fault the share of rows it makes anomalous.

    Example: xassay circuits show c17

    Args:
        circuit: A circuit's name, or a .bench or .sys file.
    """
    from xassay import circuits, terminal

    found = circuits.find(circuit)
    shares: dict[str, dict[str, float]] = {}
    faults = circuits.faults(found)
    for fault in faults:
        shares.setdefault(fault.gate, {})[fault.change] = fault.share or 0.0
    rows = []
    for gate in found.gates:
        own = shares[gate.output]
        named = [
            f"{own.pop(change):.4f}" if change in own else "" for change in ("negate", "stuck0", "stuck1")
        ]
        swaps = ", ".join(f"{kind} {share:.4f}" for kind, share in own.items())
        nodes = (terminal.plain(gate.output), gate.operator, terminal.plain(" ".join(gate.inputs)))
        rows.append([*nodes, *named, swaps])
    ports = f"{len(found.inputs)} inputs, {len(found.outputs)} outputs, {len(found.gates)} gates"
    sampled = f", estimated on {faults[0].rows:,} random rows" if faults and faults[0].rows else ""
    terminal.say(f"{found.name}: {ports}; share of rows made anomalous by each fault{sampled}")
    terminal.console().print(
        terminal.table(
            ["gate", "operator", "reads", "negate", "stuck0", "stuck1", "operator swapped for"], rows
        )
    )
    return 0


@described("studies/crem/settings.py:CremSettings")
def export(
    *,
    out: Annotated[str, Parameter(help="Folder to write into.")],
    circuits: str = "c17,74182,74283,74181",
    faults: str | None = None,
    noise: Annotated[str, Parameter(help="Numbers of noise columns.")] = "0",
    layout: Annotated[str, Parameter(help=_LAYOUT)] = "parquet",
) -> int:
    """Write altered truth tables with labels and ground truth.

    Example: xassay circuits export --circuits c17,74182 --noise 0,2 --layout study --out data
    """
    from xassay import terminal
    from xassay.circuits import export as write
    from xassay.studies.crem import CremSettings
    from xassay.studies.crem.settings import versions

    settings = CremSettings(circuits=split(circuits), faults=split(faults), noise=numbers("noise", noise))
    by_circuit: dict[str, tuple[Any, list[Any]]] = {}
    for circuit, fault in versions(settings):
        by_circuit.setdefault(circuit.name, (circuit, []))[1].append(fault)
    written = [
        path
        for circuit, chosen in by_circuit.values()
        for level in settings.noise
        for path in write(circuit, chosen, Path(out), n_noise=int(level), layout=layout)
    ]
    terminal.say(f"{terminal.plural(len(written), 'file')} under {out}")
    return 0
