"""Digital circuits with a known fault: anomalies whose true causes are known.

The data of the CREM study (see `xassay.circuits.truth` for the reference), and the same for
any combinational circuit in ``.bench`` or ``.sys`` form. What counts as a cause is either what a walk
through a circuit reaches (`ground_truth`) or what changes an output as a function of the inputs
(`function_truth`).
"""

from xassay.circuits.export import export
from xassay.circuits.faults import (
    STUDY_FAULTS,
    Fault,
    differences,
    faults,
    negate,
    replace,
    stick,
    version_name,
)
from xassay.circuits.files import EMBEDDED, find, load, read, write
from xassay.circuits.flips import function_truth, smallest_flips
from xassay.circuits.netlist import Circuit, Gate
from xassay.circuits.noise import flip_inputs
from xassay.circuits.simulation import input_rows, simulate
from xassay.circuits.table import TruthTable
from xassay.circuits.truth import ground_truth, trace_influence

__all__ = [
    "EMBEDDED",
    "STUDY_FAULTS",
    "Circuit",
    "Fault",
    "Gate",
    "TruthTable",
    "differences",
    "export",
    "faults",
    "find",
    "flip_inputs",
    "function_truth",
    "ground_truth",
    "input_rows",
    "load",
    "negate",
    "read",
    "replace",
    "simulate",
    "smallest_flips",
    "stick",
    "trace_influence",
    "version_name",
    "write",
]
