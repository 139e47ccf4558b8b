"""The interface of a backend: `render` and `compile` a kernel, `link` the code into an image or `load` it, and describe
what the code depends on.

`render` turns a kernel with outlined parallel loops (`samovar.passes.outline`) into text. `compile` turns that into code, in
a worker process: it receives plain data only (see `request`), and `prepare` imports what it needs. The rest is quick and
runs in the user's process. A process that finds its kernels in the cache imports nothing of a backend, unless code could not
be linked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from samovar._native import Image
    from samovar.artifact import Site
    from samovar.ir import Kernel, Machine

#: Symbols in the objects of units, which the linker resolves: the one that a unit defines, those of the units that it uses
#: (each with a number), and the placeholder for the number of a unit's first site.
UNIT, USED_UNIT, FIRST_SITE = "samovar_unit", "samovar_unit.", "samovar_first_site"


class Target(Protocol):
    """The machine that code is compiled for. Its string is for reports."""

    def key(self) -> tuple[str | int, ...]:
        """A key that distinguishes it from other targets, for cache keys."""

    def plans_for(self) -> Machine:
        """The properties that loop planning depends on."""


class RenderOptions(Protocol):
    """The options that affect the text."""

    @property
    def fast_math(self) -> bool: ...

    @property
    def opt_level(self) -> int: ...

    @property
    def flush_denormals(self) -> bool: ...

    @property
    def without(self) -> str: ...


@dataclass(frozen=True)
class Unit:
    """A compile unit: a part of a kernel that is compiled separately. `used` are the units that its text refers to, in the
    order of their numbers there. The text depends on nothing else, so its object can be shared with other kernels."""

    name: str
    text: str
    sites: tuple[Site, ...]
    used: tuple[int, ...]


@dataclass(frozen=True)
class Rendered:
    """A kernel as text, and its sites (source locations for messages): `sites` are numbered as in the text.

    A kernel in several `units` has the text of all of them, for reading; its sites are those of the units, one after the
    other. The first unit has the entry point."""

    text: str
    sites: tuple[Site, ...]
    units: tuple[Unit, ...] = ()


class Listing(NamedTuple):
    """A text for reading, and for each of its lines the line of the program that it comes from; 0 if there is none."""

    text: str
    lines: list[int]


class CannotLink(RuntimeError):
    """Code that cannot become an image; the message is the reason."""


class Backend(Protocol):
    """A compiler from IR to code."""

    @property
    def name(self) -> str:
        """Its name in `samovar.backends`, and for `inspect`."""

    @property
    def compiler(self) -> str:
        """The name of the compiler that `compile` uses, for messages."""

    @property
    def suffix(self) -> str:
        """The suffix of files with its text."""

    @property
    def efforts(self) -> tuple[str, ...]:
        """How much `compile` optimizes, in the words of messages ("compiled …"): full optimization first. Each of the others
        skips more steps that could fail, and is for texts that the compiler has failed on."""

    @property
    def files(self) -> tuple[tuple[str, ...], ...]:
        """The files of the package that a worker needs to compile, as parts of paths."""

    def salt(self) -> tuple[str, ...]:
        """The installed libraries that determine the result of `compile`: their versions are part of every cache key."""

    def target(self) -> Target:
        """The machine that this process runs on."""

    def render(self, kernel: Kernel, options: RenderOptions, whole: bool = False) -> Rendered:
        """The text of a kernel. The same IR gives the same text. `whole`: as a single unit."""

    def listings(
        self, kernel: Kernel, options: RenderOptions, assemble: Callable[[str], str]
    ) -> dict[str, Listing]:
        """The texts of a kernel by stage, linked to the program. `assemble` compiles a text to assembly."""

    def canonical(self, text: str) -> str:
        """A canonical text, without irrelevant differences. It is a key and not a program."""

    def request(self, text: str, target: Any, effort: str, product: str) -> tuple[Any, ...]:
        """The arguments of `compile` as plain data. `effort` is one of `efforts`; `product` is "object" or "assembly",
        or "verification", which compiles nothing, and raises an exception if the text is invalid."""

    def prepare(self) -> tuple[bytes, ...]:
        """Import all that `compile` needs. Return the versions of what `salt` names, as text."""

    def compile(self, *request: Any) -> bytes:
        """Compile to code. An invalid text raises an exception; the parent process notices if the compiler crashes."""

    def telling(self, words: list[str]) -> list[str]:
        """The lines that explain a crash, among those that `compile` has printed before it."""

    def link(self, code: bytes) -> bytes:
        """An image for the native loader; raises `CannotLink` if that is impossible."""

    def link_units(self, codes: Sequence[bytes], units: Sequence[Unit]) -> bytes:
        """As `link`, from the codes of all units of a kernel. A backend without units does not need it."""

    def load(self, code: bytes) -> Image:
        """Load code that could not be linked. It may take longer, but it is the same code."""
