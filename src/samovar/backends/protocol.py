"""What a backend does: `render` and `compile` a kernel, `link` the code into an image or `load` it, and say what code
depends on.

`render` gets a kernel whose parallel loops are outlined (`samovar.passes.outline`) and makes text of it. `compile` turns it
into code, in a worker process: it gets plain data only (see `request`), and what it needs is imported by `prepare`. All the
rest is quick and happens in the user's process. A process that finds its kernels in the cache imports nothing of a backend,
unless code could not be linked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from samovar._native import Image
    from samovar.artifact import Site
    from samovar.ir import Kernel, Machine


class Target(Protocol):
    """The machine that code is made for. As a string, it is for reports."""

    def key(self) -> tuple[str | int, ...]:
        """What tells it from others, as a part of keys."""

    def plans_for(self) -> Machine:
        """What planning a loop has to know of it."""


class RenderOptions(Protocol):
    """The options that matter to a text."""

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
    """A part of a kernel that is compiled apart. `used` are the numbers of the units that its text refers to, in the order
    in which it counts them. Its text depends on nothing else, so what it becomes can be shared with other kernels."""

    name: str
    text: str
    sites: tuple[Site, ...]
    used: tuple[int, ...]


@dataclass(frozen=True)
class Rendered:
    """A kernel as text, and the places in it that can speak: `sites` are numbered as the text numbers them.

    A kernel in several `units` has the text of all of them to read; its sites are those of the units, one unit after the
    other. The first unit is the one that a launch begins in."""

    text: str
    sites: tuple[Site, ...]
    units: tuple[Unit, ...] = ()


class CannotLink(RuntimeError):
    """Code that cannot become an image: the reason."""


class Backend(Protocol):
    """One way to make code of the IR."""

    @property
    def name(self) -> str:
        """By which it is known in `samovar.backends`, and to `inspect`."""

    @property
    def compiler(self) -> str:
        """Who does the work of `compile`, for messages."""

    @property
    def suffix(self) -> str:
        """Of files with its texts."""

    @property
    def forms(self) -> tuple[str, ...]:
        """How much `compile` does to a text, as messages say it ("compiled …"): all that it can first. Each of the others
        leaves out more of what it could fail in, and is for texts that it has failed in."""

    @property
    def files(self) -> tuple[tuple[str, ...], ...]:
        """The files of the package that a worker runs to compile, as parts of paths."""

    def salt(self) -> tuple[str, ...]:
        """The installed libraries that decide what `compile` makes: their versions are part of every key."""

    def target(self) -> Target:
        """The machine that this process runs on."""

    def render(self, kernel: Kernel, options: RenderOptions, whole: bool = False) -> Rendered:
        """The text of a kernel. The same IR gives the same text. `whole`: in one piece, whatever it is made of."""

    def canonical(self, text: str) -> str:
        """A text without what means nothing. It is a key and not a program."""

    def request(self, text: str, target: Any, form: str, product: str) -> tuple[Any, ...]:
        """What `compile` is given, as plain data. `form` is one of `forms`; `product` is "object", or "assembly" to read."""

    def prepare(self) -> tuple[bytes, ...]:
        """Import all that `compile` needs. Gives the texts of the versions of what `salt` names."""

    def compile(self, *request: Any) -> bytes:
        """Code. What is wrong with a text is an exception; what ends the process is noticed by who started it."""

    def telling(self, words: list[str]) -> list[str]:
        """Of the lines that `compile` has printed before it ended the process, those that say why."""

    def link(self, code: bytes) -> bytes:
        """An image that the native loader takes; `CannotLink` where there can be none."""

    def link_units(self, codes: Sequence[bytes], units: Sequence[Unit]) -> bytes:
        """As `link`, from the codes of all units of a kernel. A backend that makes no units needs none."""

    def load(self, code: bytes) -> Image:
        """Code that could not be linked, ready to launch. It may take longer, but it is the same code."""
