"""The state of the robot: 300 arrays in ten dataclasses inside another one.

The names are those of a typical simulator. Each quantity has one array for x, y and z each.
"""

import dataclasses
from typing import TYPE_CHECKING, Any

import samovar as sv

Vector = sv.types.NDArray[sv.f32, 1]


def record(name: str, quantities: str) -> type:
    """A dataclass with three arrays for each quantity."""
    fields = [f"{quantity}_{axis}" for quantity in quantities.split() for axis in "xyz"]
    return dataclasses.make_dataclass(name, [(field, Vector) for field in fields])


if TYPE_CHECKING:  # type checkers cannot follow a class made by a call
    Links = Any
    Joints = Any
    Dofs = Any
    Geometries = Any
    Contacts = Any
    Constraints = Any
    Actuators = Any
    Sensors = Any
    Controllers = Any
    Surroundings = Any
else:
    Links = record("Links", "position velocity acceleration force torque spin orientation momentum load drag")
    Joints = record("Joints", "angle rate acceleration torque limit stiffness damping target error effort")
    Dofs = record("Dofs", "position velocity acceleration force bias mass inverse target gain output")
    Geometries = record("Geometries", "center extent normal offset margin friction bounce density pressure shear")
    Contacts = record("Contacts", "point normal depth force slip impulse friction bias warm residual")
    Constraints = record("Constraints", "jacobian bias impulse residual scale compliance gap force step ratio")
    Actuators = record("Actuators", "command current voltage torque rate gain limit heat loss state")
    Sensors = record("Sensors", "reading bias noise filter rate gain offset window delay estimate")
    Controllers = record("Controllers", "reference error integral derivative proportional output limit feed rate blend")
    Surroundings = record("Surroundings", "wind gravity density height slope flow heat pressure drift noise")


@dataclasses.dataclass
class State:
    links: Links
    joints: Joints
    dofs: Dofs
    geometries: Geometries
    contacts: Contacts
    constraints: Constraints
    actuators: Actuators
    sensors: Sensors
    controllers: Controllers
    surroundings: Surroundings


def new_state(count: int) -> State:
    """Create arrays of `count` elements, each filled with a different number."""
    members: dict[str, Any] = {}
    for number, field in enumerate(dataclasses.fields(State)):
        arrays = []
        kind: Any = field.type
        for position, _ in enumerate(dataclasses.fields(kind)):
            array = sv.ndarray(sv.f32, (count,))
            array.fill(0.01 * (number + 1) + 0.003 * position)
            arrays.append(array)
        members[field.name] = kind(*arrays)
    return State(**members)
