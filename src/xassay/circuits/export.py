"""The CREM data set as files: truth tables, labels and ground truth, in two layouts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from xassay.circuits.faults import Fault, differences, version_name
from xassay.circuits.netlist import Circuit
from xassay.circuits.simulation import check_size, input_rows
from xassay.circuits.table import TruthTable
from xassay.circuits.truth import ground_truth
from xassay.errors import InputError, UnknownNameError
from xassay.texts import file_safe
from xassay.types import BoolArray

LAYOUTS = ("parquet", "study")

_FORMULA = "=+-@"
_MOST_CAUSES = 2**24


def export(
    circuit: Circuit,
    faults: Sequence[Fault],
    out: str | Path,
    *,
    n_noise: int = 0,
    layout: str = "parquet",
) -> list[Path]:
    """Write a circuit's altered versions, labelled and with ground truth.

    ``parquet``: one file a version, ``<out>/<circuit>/<version>_<k>noise.parquet``: the columns
    of the altered table, ``label`` (1 anomalous), and for each output ``expected_<output>``
    (the original circuit's) and ``truth_<output>`` (names of the influencing inputs where the
    output is wrong, else null).

    ``study``: the layout of the study's public data set (doi:10.7910/DVN/W4FPPN)::

        Truth_Tables/<circuit>/<circuit>_<k>noise_out.csv             the original table
        Truth_Tables/<circuit>/<version>_<k>noise_in_labeled.csv      the altered one, label
        Ground_Truth/<circuit>/<version>_ground_truth_<k>noise.csv    {'o2': ['i5']}

    Returns:
        The files written.

    Raises:
        UnknownNameError: another layout.
        InputError: a node has the name of a column that the layout adds, or in a CSV file would be a
            spreadsheet's formula; two faults would be written to one file; the tables are larger than 4 GB;
            or a file cannot be written.
    """
    if layout not in LAYOUTS:
        raise UnknownNameError("layout", layout, LAYOUTS)
    _check_columns(circuit, layout)
    names = [file_safe(version_name(circuit, fault)) for fault in faults]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(f"circuit {circuit.name}: two faults would be written to one file: {twice[0]}")
    _check_size(TruthTable(circuit, n_noise))
    write = _study if layout == "study" else _parquet
    try:
        return list(write(circuit, faults, Path(out), n_noise))
    except (OSError, pl.exceptions.PolarsError) as error:
        where, why = getattr(error, "filename", None) or out, getattr(error, "strerror", None) or error
        raise InputError(f"{where}: cannot be written: {why}") from None


def _check_size(table: TruthTable) -> None:
    check_size(f"circuit {table.circuit.name}", table.n_rows, len(table.columns))
    causes = 2 ** len(table.circuit.inputs) * len(table.circuit.outputs)
    if causes > _MOST_CAUSES:
        raise InputError(
            f"circuit {table.circuit.name}: {causes:,} lists of causes are more than the {_MOST_CAUSES:,} "
            "that are written; take a part of the circuit, or ask circuits.ground_truth for the rows you need"
        )


def _check_columns(circuit: Circuit, layout: str) -> None:
    added = {"label"}
    if layout == "parquet":
        added |= {f"{prefix}_{output}" for prefix in ("expected", "truth") for output in circuit.outputs}
    for name in (*circuit.inputs, *circuit.outputs):
        if name in added:
            raise InputError(
                f"circuit {circuit.name}: node {name!r} has the name of a column that the layout adds"
            )
        if layout == "study" and name[0] in _FORMULA:
            raise InputError(
                f"circuit {circuit.name}: a spreadsheet would run node {name!r} of a CSV file as a formula; "
                "rename it, or use the layout parquet"
            )


def _parquet(circuit: Circuit, faults: Sequence[Fault], out: Path, n_noise: int) -> Iterator[Path]:
    folder = out / circuit.name
    folder.mkdir(parents=True, exist_ok=True)
    original = TruthTable(circuit, n_noise)
    expected = original.rows()[:, -len(circuit.outputs) :]
    for fault in faults:
        altered = TruthTable(fault.apply(circuit), n_noise)
        wrong = differences(circuit, altered.circuit)
        frame = _table(altered).with_columns(_label(wrong, altered))
        frame = frame.with_columns(
            [pl.Series(f"expected_{o}", expected[:, j]).cast(pl.UInt8) for j, o in enumerate(circuit.outputs)]
        )
        input_ids = altered.input_ids(np.arange(altered.n_rows))
        for j, output in enumerate(circuit.outputs):
            names = pl.Series(
                f"truth_{output}", _causes(altered.circuit, output, wrong[:, j]), pl.List(pl.String)
            )
            frame = frame.with_columns(names.gather(pl.Series(input_ids)))
        path = folder / f"{file_safe(version_name(circuit, fault))}_{n_noise}noise.parquet"
        frame.write_parquet(path)
        yield path


def _study(circuit: Circuit, faults: Sequence[Fault], out: Path, n_noise: int) -> Iterator[Path]:
    tables, truths = out / "Truth_Tables" / circuit.name, out / "Ground_Truth" / circuit.name
    tables.mkdir(parents=True, exist_ok=True)
    truths.mkdir(parents=True, exist_ok=True)
    path = tables / f"{circuit.name}_{n_noise}noise_out.csv"
    _table(TruthTable(circuit, n_noise)).write_csv(path)
    yield path
    for fault in faults:
        version = file_safe(version_name(circuit, fault))
        altered = TruthTable(fault.apply(circuit), n_noise)
        wrong = differences(circuit, altered.circuit)
        path = tables / f"{version}_{n_noise}noise_in_labeled.csv"
        _table(altered).with_columns(_label(wrong, altered)).write_csv(path)
        yield path
        path = truths / f"{version}_ground_truth_{n_noise}noise.csv"
        # the first column has no name, as pandas writes an index
        body = _study_truth(altered, wrong).write_csv(include_header=False)
        path.write_text(f",explanation for output\n{body}", encoding="utf-8", newline="\n")
        yield path


def _study_truth(table: TruthTable, wrong: BoolArray) -> pl.DataFrame:
    causes = {
        output: _causes(table.circuit, output, wrong[:, j]) for j, output in enumerate(table.circuit.outputs)
    }
    texts = [
        str({output: names[row] for output, names in causes.items() if names[row] is not None})
        for row in range(len(wrong))
    ]
    ids = np.arange(table.n_rows)
    anomalous = ids[np.any(wrong, axis=1)[table.input_ids(ids)]]
    explained = pl.Series("explanation for output", texts).gather(pl.Series(table.input_ids(anomalous)))
    return pl.DataFrame({"": anomalous, "explanation for output": explained})


def _table(table: TruthTable) -> pl.DataFrame:
    return pl.DataFrame(table.rows().astype(np.uint8), schema=list(table.columns))


def _label(wrong: BoolArray, table: TruthTable) -> pl.Series:
    anomalous = np.any(wrong, axis=1)[table.input_ids(np.arange(table.n_rows))]
    return pl.Series("label", anomalous).cast(pl.UInt8)


def _causes(altered: Circuit, output: str, wrong: BoolArray) -> list[list[str] | None]:
    """For each row of the noise-free table, the causes of a wrong output; None where it is right."""
    truth = ground_truth(altered, input_rows(altered), output)
    names = np.array(altered.inputs, dtype=object)
    return [names[causes].tolist() if bad else None for causes, bad in zip(truth, wrong, strict=True)]
