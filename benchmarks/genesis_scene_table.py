"""The table of Genesis scenes, and what making one takes. See genesis_scenes.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Scene = Any
Entity = Any
#: A built scene, what a step does besides, and the entities whose states are compared.
Made = tuple[Scene, Callable[[int], None], list[Entity]]
#: Scenes that Genesis makes with floats of 64 bits only.
DOUBLES = {"sap_coupling"}
SCENES: dict[str, Callable[[Any], Made]] = {}


def scene(make: Callable[[Any], Made]) -> Callable[[Any], Made]:
    """Add a scene to the table."""
    SCENES[make.__name__] = make
    return make


def empty(gs: Any, **options: Any) -> Scene:
    """A scene with nothing in it and without a viewer."""
    return gs.Scene(show_viewer=False, **options)


def uncontrolled(step: int) -> None:
    """A scene that is left to itself."""


def built(made: Scene, entities: list[Entity], control: Callable[[int], None] = uncontrolled, **options: Any) -> Made:
    """Build a scene."""
    made.build(**options)
    return made, control, entities
