"""The tables of the MAPLE evaluation, pinned; two that need no download; and any table of yours."""

import hashlib
import os
from pathlib import Path

import attrs
import numpy as np
import polars as pl

from xassay.errors import InputError, UnknownNameError
from xassay.types import FloatArray

REVISION = "8c869d2bf826b0c6bdd1a2d6223cda6c94ad08c0"
URL = "https://raw.githubusercontent.com/GDPlumb/MAPLE/{revision}/Datasets/{name}.csv"
"""Where the tables of the study's repository are had, at a revision that cannot change."""

SHA256 = {
    "autompgs": "5e6205dd8b05c9032816d9e053ab278e7911a0dac762943d535246c52f873dc5",
    "communities": "5aa1aaa4947437f171a83e1b95e09b2ebe50ebde7c3bfd0db583d99d08bf3ee1",
    "crimes": "e483e4f4e402202b3889af68e888ce587f7568068a4f9e142ccc05c8f841205d",
    "day": "a940cbbc22b3415da88e83c5d5c8a39c8caca13e44b8d27be1f27ada7d38e3ac",
    "happiness": "7300074a9dd6755efc8306b4e927df963380312b98cfebb50f81aec332427667",
    "housing": "39c02d2ef84c97277e4783def1ad53377b3f1c9e55b4d0bde0e0db1cd924f1ce",
    "music": "0a857cb04f8d298da339883dd0cd9f236067e9906b2a239c6f6c070b03dc8d49",
    "winequality-red": "3d60af1406e242f76caf2c914bd00b1bcf1fed469697aa915a84bc27ea614ca6",
}
"""The eight UCI tables by name, with the SHA-256 sum of each file."""

EMBEDDED = ("diabetes", "friedman1")
"""Tables that need no download: scikit-learn's diabetes, and a sample of Friedman #1."""

FOLDER_VARIABLE = "XASSAY_DATA"


@attrs.frozen(eq=False)
class Dataset:
    """A regression table.

    Attributes:
        name: what it is called.
        X: features, float, shape (rows, features).
        y: target, float, shape (rows,).
        columns: name of each feature.
        pinned: whether it is one of the registry, checked, and not another of its name.
    """

    name: str
    X: FloatArray
    y: FloatArray
    columns: tuple[str, ...]
    pinned: bool = False


def available() -> tuple[str, ...]:
    """Names of all tables, those that need no download first."""
    return (*EMBEDDED, *SHA256)


def load(name: str, *, data_dir: str | Path | None = None, keep_row_counter: bool = False) -> Dataset:
    """A table by name.

    The UCI tables are read from ``data_dir``, from the folder named by the environment
    variable ``XASSAY_DATA`` (itself or its folder ``uci``), or from the cache that `fetch`
    fills; nothing is downloaded here.

    Args:
        name: a name of `available`.
        data_dir: folder that holds ``<name>.csv``.
        keep_row_counter: keep the files' unnamed leading row counter as a feature, as the
            published study did.

    Raises:
        UnknownNameError: no such table.
        InputError: the file is not there (the message says how to get it), or not the pinned one.

    Example:
        >>> load("diabetes").X.shape
        (442, 10)
    """
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        bunch = load_diabetes(scaled=False)
        return Dataset(name, bunch.data, bunch.target, tuple(bunch.feature_names), pinned=True)
    if name == "friedman1":
        from sklearn.datasets import make_friedman1

        X, y = make_friedman1(500, 10, noise=1.0, random_state=0)
        return Dataset(name, X, y, tuple(f"x{j}" for j in range(10)), pinned=True)
    table = pl.read_csv(_file(name, data_dir), infer_schema_length=None).cast(pl.Float64)
    first = 0 if keep_row_counter else 1
    values = table.to_numpy()
    columns = ("row", *table.columns[1:-1])[first:]
    return Dataset(
        name, np.ascontiguousarray(values[:, first:-1]), values[:, -1].copy(), columns, pinned=True
    )


def is_here(name: str) -> bool:
    """Whether a table can be loaded without a download. Errors: `load`, for unknown names."""
    if name not in available():
        raise UnknownNameError("table", name, available())
    return name in EMBEDDED or any(path.is_file() for path in _places(name, None))


def fetch(name: str) -> Path:
    """Download a UCI table into the user's cache, unless it is there.

    Returns:
        The file.

    Raises:
        UnknownNameError: no such table to download.
        InputError: no network, or a file that is not the pinned one; nothing broken is kept.
    """
    if name not in SHA256:
        raise UnknownNameError("table to download", name, SHA256)
    import pooch

    url = URL.format(revision=REVISION, name=name)
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        return Path(pooch.retrieve(url, f"sha256:{SHA256[name]}", fname=f"{name}.csv", path=cache_folder()))
    except ValueError:
        raise InputError(
            f"{url}: what came is not the pinned file (its SHA-256 differs); nothing was kept"
        ) from None
    except OSError as error:
        raise InputError(f"{url}: cannot be downloaded ({type(error).__name__}); {_by_hand(name)}") from None
    finally:
        logger.setLevel(level)


def cache_folder() -> Path:
    """Where `fetch` keeps its files."""
    import pooch

    return Path(pooch.os_cache("xassay"))


def _file(name: str, data_dir: str | Path | None) -> Path:
    """The pinned file, checked.

    Raises:
        UnknownNameError: no such table.
        InputError: it is nowhere, or not the pinned one.
    """
    if name not in SHA256:
        raise UnknownNameError("table", name, available())
    path = next((p for p in _places(name, data_dir) if p.is_file()), None)
    if path is None and data_dir is not None:
        raise InputError(f"folder {data_dir} holds no {name}.csv, nor does its folder uci")
    if path is None:
        raise InputError(
            f"table {name!r} is not on this machine: run 'xassay data fetch {name}'; {_by_hand(name)}"
        )
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256[name]:
        raise InputError(f"{path}: is not the pinned table {name!r} (its SHA-256 differs); fetch it again")
    return path


def _places(name: str, data_dir: str | Path | None) -> list[Path]:
    file = f"{name}.csv"
    if data_dir is not None:
        return [Path(data_dir) / file, Path(data_dir) / "uci" / file]
    folder = os.environ.get(FOLDER_VARIABLE)
    named = [] if folder is None else [Path(folder) / file, Path(folder) / "uci" / file]
    return [*named, cache_folder() / file]


def _by_hand(name: str) -> str:
    return f"without a network, put {name}.csv into a folder and name it in {FOLDER_VARIABLE}"
