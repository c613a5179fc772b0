"""Explainers by name: one decorator to register, one function to make."""

from collections.abc import Callable, Iterable, Mapping
from importlib import metadata
from typing import Any, TypeVar, cast

import attrs
import numpy.typing as npt

from xassay import packages, specs
from xassay.errors import InputError, UnknownNameError
from xassay.explainers import user
from xassay.explainers.record import ExplainerRecord
from xassay.types import Explainer, Predict

ENTRY_POINTS = "xassay.explainers"

Made = TypeVar("Made", bound=type)


ENGINES = ("package", "native")
"""Whose code explains: a package's, or ours."""

EXTRAS = {"shapiq": "shapiq"}
"""Explainers whose package is an extra: they are known where it is installed."""

_RECORDS: dict[str, dict[str, ExplainerRecord]] = {}


def register(
    name: str,
    *,
    engine: str,
    published: str | None = None,
    cost: Callable[[int, int], float] = lambda _features, _rows: 1.0,
    **facts: Any,
) -> Callable[[Made], Made]:
    """Class decorator: make an explainer class known under a name.

    Args:
        name: what users call it.
        engine: whose code explains.
        published: the name in the published tables.
        cost: see `ExplainerRecord`.
        **facts: the record's other fields.

    Raises:
        InputError: the name is taken.
    """
    kind = "native" if engine == "native" else "package"
    if kind in _RECORDS.get(name, {}):
        raise InputError(f"explainer {name!r} is registered already")

    def add(cls: Made) -> Made:
        cls.name = name  # type: ignore[attr-defined]
        version = engine if engine == "native" else f"{engine} {packages.version(engine)}"
        made = ExplainerRecord(name, engine, cls, version, published, cost=cost, **facts)
        _RECORDS.setdefault(name, {})[kind] = made
        return cls

    return add


def _check_package(found: ExplainerRecord) -> None:
    """Refuse an explainer whose package is not installed."""
    if found.version == f"{found.engine} {packages.NOT_INSTALLED}":
        raise _missing(found.name, found.engine)


def _missing(name: str, package: str) -> InputError:
    return InputError(f"explainer {name!r} needs the package {package}: pip install {package}")


def available() -> tuple[str, ...]:
    """Names of all registered explainers, those of installed plug-ins included.

    Example:
        >>> "kernel_shap" in available()
        True
    """
    return (*_RECORDS, *sorted(point.name for point in _entry_points() if point.name not in _RECORDS))


def engines(name: str) -> tuple[str, ...]:
    """The engines of a registered explainer: ``package``, ``native``, or both.

    Raises:
        UnknownNameError: no registered explainer has the name.

    Example:
        >>> engines("lime")
        ('package', 'native')
    """
    if name not in _RECORDS:
        raise UnknownNameError("explainer", name, available())
    return tuple(kind for kind in ENGINES if kind in _RECORDS[name])


def split(spec: str) -> tuple[str, str | None, dict[str, Any]]:
    """A spec as a name, the engine that it asks for (``lime:engine=native``), and options.

    Raises:
        InputError: a part that is no ``option=value``.
    """
    name, options = specs.split_options(spec)
    engine = options.pop("engine", None) if name in _RECORDS else None
    return name, engine, options


def record(spec: str, engine: str | None = None, *, prefer: str = "package") -> ExplainerRecord:
    """The record of an explainer: a registered name, a plug-in's, or ``path/to/file.py:function``.

    Args:
        spec: as the user wrote it; may ask for an engine.
        engine: the engine, where the spec asks for none.
        prefer: which engine to take where neither asks and there are both.

    Raises:
        UnknownNameError: nothing answers to the name, or it has no such engine.
        InputError: the file or plug-in cannot be loaded.
    """
    name, written, _ = split(spec)
    if name in _RECORDS:
        if written is not None and engine is not None and written != engine:
            raise InputError(f"explainer {name}: engine {written} is asked for, and engine {engine} too")
        asked = engine if written is None else written
        if asked is not None and asked not in _RECORDS[name]:
            raise UnknownNameError(f"engine of explainer {name}", asked, engines(name))
        return _RECORDS[name].get(asked or prefer) or next(iter(_RECORDS[name].values()))
    if specs.is_file(name):
        return user.record_of_file(name)
    for point in _entry_points():
        if point.name == name:
            return user.record_of_entry_point(point)
    if name.endswith(".py"):
        raise InputError(f"explainer {name!r}: name the function too, as in {name}:explain")
    if name in EXTRAS:
        raise InputError(f"explainer {name!r} needs a package: pip install 'xassay[{EXTRAS[name]}]'")
    raise UnknownNameError("explainer", name, available())


def make(
    name: str,
    *,
    predict: Predict | None = None,
    background: npt.ArrayLike,
    seed: int = 0,
    engine: str | None = None,
    **options: Any,
) -> Explainer:
    """An explainer ready to explain rows of one model.

    Args:
        name: a name of `available`, or ``path/to/file.py:function`` where the function takes
            (predict, background, X) and returns values (rows, features) or an `Explanation`.
            Options may be appended: ``kernel_shap:nsamples=2000``.
        predict: the model, (rows, features) -> (rows,); not needed where a table is given.
        background: reference rows, shape (rows, features).
        seed: with a row's id, fixes every random draw of that row.
        engine: ``package`` or ``native``, where there are both; default the package's.
        options: the explainer's own. Native explainers of Boolean models take ``table`` and
            ``columns``.

    Raises:
        UnknownNameError: nothing answers to the name.
        InputError: an option does not exist or does not fit, the background is empty, or the package
            that explains is not installed.

    Example:
        >>> import numpy as np
        >>> flip = make("single_flip", predict=lambda X: X[:, 0] * X[:, 1], background=np.eye(2))
        >>> flip.explain([[1, 1]]).values.tolist()
        [[1.0, 1.0]]
    """
    if not isinstance(name, str):
        raise InputError(
            f"an explainer is named by a string such as 'lime' or 'file.py:function', not {name!r}"
        )
    _, _, written = split(name)
    found = record(name, engine)
    given = {**written, **options}
    check_options(found, given)
    _check_package(found)
    try:
        return found.factory(predict=predict, background=background, seed=seed, **given)
    except ImportError as error:
        raise _missing(found.name, (error.name or found.engine).partition(".")[0]) from error


def check_options(found: ExplainerRecord, options: Mapping[str, Any]) -> None:
    """Refuse options that the explainer does not have.

    Raises:
        UnknownNameError: an unknown option.
        InputError: an option of its other engine.
    """
    known = option_names(found)
    if known is None:
        return
    for option in options:
        if option in known:
            continue
        for kind, other in _RECORDS.get(found.name, {}).items():
            if option in (option_names(other) or ()):
                raise InputError(f"explainer {found.name}: option {option} goes with engine={kind}")
        written = (
            name for name in known if not attrs.fields_dict(cast("type", found.factory))[name].metadata
        )
        raise UnknownNameError(f"option of explainer {found.name}", option, written)


def default_options(found: ExplainerRecord) -> dict[str, Any]:
    """What holds where the user says nothing; empty for a user's own function."""
    fields = attrs.fields_dict(found.factory) if isinstance(found.factory, type) else {}
    names = (name for name in option_names(found) or () if not fields[name].metadata.get("data"))
    return {name: fields[name].default for name in names}


def option_names(found: ExplainerRecord) -> tuple[str, ...] | None:
    """The options of an explainer; None where a plug-in takes what it likes."""
    if not isinstance(found.factory, type) or not attrs.has(found.factory):
        return None
    shared = ("predict", "background", "seed")  # what every explainer is given
    return tuple(
        field.name for field in attrs.fields(found.factory) if field.init and field.name not in shared
    )


def _entry_points() -> Iterable[metadata.EntryPoint]:
    return metadata.entry_points(group=ENTRY_POINTS)


def check_spec(spec: str, *, prefer: str = "package") -> None:
    """Refuse an explainer that `make` would refuse, before any work is done.

    Raises:
        UnknownNameError: nothing answers to the name, or to an option.
        InputError: a file or plug-in cannot be loaded, or an option's value does not fit.
    """
    _, _, options = split(spec)
    found = record(spec, prefer=prefer)
    check_options(found, options)
    _check_package(found)
    if hasattr(found.factory, "check"):
        found.factory.check(options)
    if isinstance(found.factory, type) and attrs.has(found.factory):
        fields = attrs.fields_dict(found.factory)
        for option, value in options.items():
            if fields[option].metadata.get("data"):
                raise InputError(f"explainer {spec!r}: {option} takes data, which only Python can give")
            if (validator := fields[option].validator) is not None:
                validator(None, fields[option], value)
