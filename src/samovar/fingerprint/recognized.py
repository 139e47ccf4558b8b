"""Types of modules that are not imported on their account: values of the standard library, and of NumPy.

A class is recognized by its name, if its module, which is then imported, has this very class under that name.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from samovar.fingerprint.arrays import plan_array, plan_dtype, plan_scalar
from samovar.fingerprint.containers import exact_or_extended
from samovar.fingerprint.deconstruction import Deconstruction, EmptyDeconstruction, encode_names
from samovar.fingerprint.deconstructor_options import Options, Planner
from samovar.fingerprint.objects import plan_namespace
from samovar.reflection import qualified_name, read_as, unqualified_name

if TYPE_CHECKING:
    import datetime
    import decimal
    import fractions
    import uuid

__all__ = ["claims_to_be_known", "recognize"]


def claims_to_be_known(cls: type) -> bool:
    """Whether a class has a name of the table below. Whether its module has this very class can change at any time."""
    return qualified_name(cls) in _BY_NAME


def recognize(cls: type) -> Planner | None:
    """Return the planner for a class of the table below."""
    name = qualified_name(cls)
    make = _BY_NAME.get(name)
    if make is None or getattr(sys.modules.get(name[0]), "__dict__", {}).get(name[1]) is not cls:
        return None
    return make(cls)


class _AsBase:
    """A view of a value with the attributes of its base class, which a subclass may override."""

    __slots__ = ("_base", "_value")

    def __init__(self, base: type, value: object) -> None:
        self._base = base
        self._value = value

    def __getattr__(self, name: str) -> Any:
        return read_as(self._base, self._value, name)


def _decimal(value: decimal.Decimal) -> Deconstruction:
    sign, digits, exponent = value.as_tuple()
    return EmptyDeconstruction("Decimal", f"{sign}:{''.join(map(str, digits))}:{exponent}".encode())


def _fraction(value: fractions.Fraction) -> Deconstruction:
    return Deconstruction(
        "Fraction", pieces=(value.numerator, value.denominator), labels=(".numerator", ".denominator")
    )


def _date(value: datetime.date) -> Deconstruction:
    return EmptyDeconstruction("date", _calendar_day(value))


def _time(value: datetime.time) -> Deconstruction:
    return Deconstruction("time", _time_of_day(value), (value.tzinfo,), (".tzinfo",))


def _datetime(value: datetime.datetime) -> Deconstruction:
    return Deconstruction("datetime", _calendar_day(value) + _time_of_day(value), (value.tzinfo,), (".tzinfo",))


def _calendar_day(value: datetime.date) -> bytes:
    return struct.pack("<HBB", value.year, value.month, value.day)


def _time_of_day(value: datetime.time | datetime.datetime) -> bytes:
    return struct.pack("<BBBIB", value.hour, value.minute, value.second, value.microsecond, value.fold)


def _timedelta(value: datetime.timedelta) -> Deconstruction:
    return EmptyDeconstruction("timedelta", struct.pack("<iii", value.days, value.seconds, value.microseconds))


def _timezone(value: datetime.timezone) -> Deconstruction:
    return Deconstruction("timezone", pieces=value.__getinitargs__())  # type: ignore[attr-defined]


def _uuid(value: uuid.UUID) -> Deconstruction:
    return EmptyDeconstruction("UUID", value.int.to_bytes(16, "big"))


def _array(value: Any) -> Deconstruction:
    # A subclass may expose memory other than its own.
    content = value.tobytes() if type(value) is _AsBase else memoryview(value)
    return Deconstruction(
        "array", encode_names((value.typecode, str(value.itemsize))), (EmptyDeconstruction("memory", content),)
    )


def _extended(rule: Callable[[Any], Deconstruction]) -> Callable[[type], Planner]:
    return lambda base: exact_or_extended(base, rule, lambda value: rule(_AsBase(base, value)))


def _path(base: type) -> Planner:
    tag = unqualified_name(base)

    def level(text: str) -> Deconstruction:
        return EmptyDeconstruction(tag, text.encode("utf-8", "surrogateescape"))

    return exact_or_extended(base, lambda path: level(str(path)), lambda path: level(read_as(base, path, "__str__")()))


def _always(planner: Callable[[type, Options], Any]) -> Callable[[type], Planner]:
    return lambda base: planner


_BY_NAME: Final[dict[tuple[str, str], Callable[[type], Planner]]] = {
    ("decimal", "Decimal"): _extended(_decimal),
    ("fractions", "Fraction"): _extended(_fraction),
    ("datetime", "date"): _extended(_date),
    ("datetime", "time"): _extended(_time),
    ("datetime", "datetime"): _extended(_datetime),
    ("datetime", "timedelta"): _extended(_timedelta),
    ("datetime", "timezone"): _extended(_timezone),
    ("uuid", "UUID"): _extended(_uuid),
    ("array", "array"): _extended(_array),
    # The module of the path classes varies between versions of Python.
    **{
        (module, name): _path
        for module in ("pathlib", "pathlib._local")
        for name in ("PurePosixPath", "PureWindowsPath", "PosixPath", "WindowsPath")
    },
    ("argparse", "Namespace"): _always(plan_namespace),
    ("numpy", "ndarray"): _always(plan_array),
    ("numpy", "dtype"): _always(plan_dtype),
    ("numpy", "generic"): _always(plan_scalar),
}
