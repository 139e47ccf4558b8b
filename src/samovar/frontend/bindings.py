"""What a name is bound to: after its first assignment, as a parameter of a func, and after a branch.

Mostly the value itself; values that can change at run time get a variable.
"""

from __future__ import annotations

import ast
from functools import singledispatch

from samovar._native import DType, bf16
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.complex import Complex, ComplexPlace, new_complex
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import Matrix, MatrixValue, Stored
from samovar.frontend.staged.matrix_places import InMemory, Parts, new_variable
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.struct import StructValue
from samovar.frontend.staged.struct_places import StructPlace, new_struct
from samovar.frontend.staged.table import Table
from samovar.frontend.staged.tensor import Element, ElementReference
from samovar.frontend.staged.variable import Variable
from samovar.frontend.stager import Binding, Stager
from samovar.ir import Region, Value
from samovar.language import part_type

# --- the first assignment


@singledispatch
def first_assigned(value: Staged, stager: Stager, target: ast.Name, annotated: DType | None) -> Binding:
    """The binding of a name with this first value: mostly itself, and for numbers mostly a variable."""
    if annotated is not None:
        value.fail_as_number(stager, target)
    return value


@first_assigned.register(Scalar)
def first_number(value: Staged, stager: Stager, target: ast.Name, annotated: DType | None) -> Binding:
    """The first value decides the type."""
    if annotated is not None and part_type(annotated) is not None:
        return first_assigned(Complex(value, Static(0.0)), stager, target, annotated)
    name = target.id
    birthplace = (stager.staged_as, name, target.lineno, target.col_offset)
    is_plain = annotated is None and not value.is_run_time()
    widened = stager.context.decisions.widened.get(birthplace) if is_plain else None
    dtype = annotated or widened or value.type(stager, target)
    if dtype is bf16:
        stager.fail_as_element(f"the variable `{name}` of type bf16")
    run_time = value.as_stored(stager, dtype, target)
    if name in stager.once:
        return Scalar(run_time)
    hint = stager.hints.get(name)
    variable = hint if isinstance(hint, Variable) else Variable(stager.new_local(name, dtype))
    if is_plain and variable is not hint:
        stager.context.births[variable.local] = birthplace
    if variable.type is not dtype:
        run_time = variable.converted(stager, value, name, target)
    variable.store_value(stager, run_time)
    return variable


@first_assigned.register(Complex)
def first_complex(value: Complex, stager: Stager, target: ast.Name, annotated: DType | None) -> Binding:
    """The first value decides the type, of both parts; a compile-time number may get a wider one, as for real numbers."""
    name = target.id
    birthplace = (stager.staged_as, name, target.lineno, target.col_offset)
    is_plain = annotated is None and not value.is_run_time()
    widened = stager.context.decisions.widened.get(birthplace) if is_plain else None
    wanted = None if annotated is None else required_parts(stager, annotated, target)
    dtype = wanted or widened or value.part_type(stager, target)
    if name in stager.once:
        return value.of_type(stager, dtype, target)
    hint = stager.hints.get(name)
    if isinstance(hint, ComplexPlace):
        hint.store(stager, value, target)
        return hint
    variable = new_complex(stager, name, dtype)
    if is_plain:
        stager.context.births.update(dict.fromkeys(variable.locals(), birthplace))
    variable.store(stager, value.of_type(stager, dtype, target), target)
    return variable


def required_parts(stager: Stager, annotated: DType, node: ast.AST) -> DType:
    """The dtype of the parts of a variable that is annotated as complex."""
    dtype = part_type(annotated)
    if dtype is None:
        stager.fail_type(node, f"a complex number cannot be stored as {annotated.name}", Complex.advice)
    return dtype


@first_assigned.register(Static)
def first_constant(value: Static, stager: Stager, target: ast.Name, annotated: DType | None) -> Binding:
    if value.is_number():
        return first_number(value, stager, target, annotated)
    if annotated is not None:
        value.fail_as_number(stager, target)
    return value


@first_assigned.register(Items)
def first_items(value: Items, stager: Stager, target: ast.Name, annotated: DType | None) -> Binding:
    """A list of numbers whose elements are assigned is a vector local to the function."""
    if annotated is not None:
        value.fail_as_number(stager, target)
    vector = value.as_vector(stager, target) if target.id in stager.used.changed_by_element else None
    return value.kept(stager, target) if vector is None else first_assigned(vector, stager, target, None)


@first_assigned.register(Table)
def first_table(value: Table, stager: Stager, target: ast.Name, annotated: DType | None) -> Binding:
    if annotated is not None:
        value.fail_as_number(stager, target)
    return value.kept(stager, target)


@first_assigned.register(MatrixValue)
def first_matrix(value: MatrixValue, stager: Stager, target: ast.Name, annotated: DType | None) -> Binding:
    if annotated is not None:
        value.fail_as_number(stager, target)
    name = target.id
    in_memory = isinstance(value, Stored) or name in stager.memory_names()
    if name in stager.once and not in_memory:
        return value
    if isinstance(value, Stored) and value.fresh and name not in stager.hints:
        value.fresh = False
        return value if name in stager.once else InMemory(value.array, value.leading, value.shape, name)
    variable = new_variable(stager, name, value, stager.hints.get(name), in_memory)
    variable.store(stager, value, target)
    return variable


@first_assigned.register(StructValue)
def first_struct(value: StructValue, stager: Stager, target: ast.Name, annotated: DType | None) -> Binding:
    if annotated is not None:
        value.fail_as_number(stager, target)
    name = target.id
    if name in stager.once:
        return value.kept(stager, target)
    hint = stager.hints.get(name)
    if isinstance(hint, StructPlace):
        variable = hint
    else:
        variable = new_struct(stager, name, value)
    variable.store(stager, value, target)
    return variable


# --- parameters of funcs


@singledispatch
def copied(value: Staged, stager: Stager, name: str) -> Binding:
    """A parameter that the body of a func may modify: run-time values become a variable."""
    return value


@copied.register(Scalar)
def copy_number(value: Scalar, stager: Stager, name: str) -> Binding:
    return stored_in(Variable(stager.new_local(name, value.dtype)), stager, value)


@copied.register(Complex)
def copy_complex(value: Complex, stager: Stager, name: str) -> Binding:
    return stored_in(new_complex(stager, name, value.part_type(stager, stager.source.node)), stager, value)


@copied.register(MatrixValue)
def copy_matrix(value: MatrixValue, stager: Stager, name: str) -> Binding:
    return stored_in(new_variable(stager, name, value, None), stager, value)


@copied.register(StructValue)
def copy_struct(value: StructValue, stager: Stager, name: str) -> Binding:
    return stored_in(new_struct(stager, name, value), stager, value)


def stored_in(variable: Place, stager: Stager, value: Staged) -> Place:
    variable.store(stager, value, stager.source.node)
    return variable


@singledispatch
def referenced(value: Staged, stager: Stager, name: str) -> Binding:
    """A parameter through which the body of a func modifies a variable of the caller."""
    return copied(value, stager, name)


@referenced.register(Matrix)
def refer_to_vector(value: Matrix, stager: Stager, name: str) -> Parts:
    """It stays in registers in any case: the caller gets the final values of its components."""
    dtype = value.dtype(stager, stager.source.node)
    parts = tuple(Variable(stager.new_local(name, dtype)) for _ in value.numbers)
    reference = Parts(value.shape, parts)
    reference.store(stager, value, stager.source.node)
    return reference


@referenced.register(Complex)
def refer_to_complex(value: Complex, stager: Stager, name: str) -> Binding:
    parts = [referenced(part, stager, f"{name}.{own}") for own, part in zip(("real", "imag"), value.parts, strict=True)]
    return ComplexPlace(*parts)  # type: ignore[arg-type]


@referenced.register(Stored)
def refer_to_memory(value: Stored, stager: Stager, name: str) -> Binding:
    return InMemory(value.array, value.leading, value.shape, name)


@referenced.register(StructValue)
def refer_to_struct(value: StructValue, stager: Stager, name: str) -> Binding:
    parts = [referenced(member, stager, f"{name}.{own}") for own, member in value.named()]
    return StructPlace(value.struct, tuple(parts))  # type: ignore[arg-type]


@referenced.register(ElementReference)
def refer_to_element(value: ElementReference, stager: Stager, name: str) -> Binding:
    return Element(value.array, value.indices)


# --- after a branch


@singledispatch
def carried_out(value: Binding, stager: Stager, region: Region, name: str) -> Binding:
    """The binding for code after the region in which a name was bound to a value or place."""
    if isinstance(value, Place):
        return value
    values = value.ir_values()
    if all(each.type is None for each in values):
        return value
    carried = [each if each.type is None else carry(stager, region, name, each) for each in values]
    return value.rebuild(iter(carried))


@carried_out.register(Scalar)
@carried_out.register(Complex)
@carried_out.register(Matrix)
@carried_out.register(StructValue)
def carry_variable(value: Staged, stager: Stager, region: Region, name: str) -> Binding:
    with stager.into(region):
        return copied(value, stager, name)


def carry(stager: Stager, region: Region, name: str, value: Value) -> Value:
    """A scalar computed in a region, for code after it."""
    assert value.type is not None
    local = stager.new_local(name, value.type)
    with stager.into(region):
        stager.emit("store_local", None, (value,), local)
    return stager.emit("load_local", local.type, (), local)
