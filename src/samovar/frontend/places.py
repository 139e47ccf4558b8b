"""Places in the source: what a target, a subscript or an attribute is a part of."""

from __future__ import annotations

import ast

from samovar import errors
from samovar.frontend.dispatch import stage
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.static import Slice, Static
from samovar.frontend.stager import Binding, Stager


def stage_target(stager: Stager, node: ast.expr) -> Binding:
    """What a target is a part of: a place, or a value."""
    if isinstance(node, ast.Name):
        binding = stager.names.get(node.id)
        return stager.load(node.id, node) if binding is None else binding
    if isinstance(node, ast.Subscript):
        owner, index = stage_target(stager, node.value), stage_index(stager, node.slice)
        return owner.element(stager, index, node) or owner.load(stager).subscript(stager, index, node).unforced()
    if isinstance(node, ast.Attribute):
        owner = stage_target(stager, node.value)
        return owner.member(stager, node.attr, node) or owner.load(stager).attribute(stager, node.attr, node)
    return stage(stager, node)


def stage_owner(stager: Stager, node: ast.expr) -> Binding:
    """The owner of an attribute. For a struct that is a variable or array element, only the attribute is read."""
    if isinstance(node, ast.Name):
        binding = stager.names.get(node.id)
        return stager.load(node.id, node) if binding is None else binding
    if isinstance(node, ast.Subscript):
        owner = stage_target(stager, node.value)
        return owner.part_at(stager, stage_index(stager, node.slice), node)
    if isinstance(node, ast.Attribute):
        return stage_owner(stager, node.value).part_named(stager, node.attr, node)
    return stage(stager, node)


def stage_index(stager: Stager, node: ast.expr) -> Staged:
    """The content of the brackets: an index, several of them, or a slice."""
    if isinstance(node, ast.Slice):
        lower, upper, step = (
            Static(None) if part is None else stage(stager, part) for part in (node.lower, node.upper, node.step)
        )
        return Slice(lower, upper, step)
    if isinstance(node, ast.Tuple) and any(isinstance(element, ast.Slice) for element in node.elts):
        return Items(tuple(stage_index(stager, element) for element in node.elts))
    return stage(stager, node)


def stage_member(stager: Stager, target: ast.Attribute) -> Place:
    """The place of an attribute that is assigned or updated."""
    owner, name = stage_target(stager, target.value), target.attr
    place = owner.member(stager, name, target)
    if place is not None:
        return place
    names, what = owner.member_names(), owner.describe()
    if isinstance(owner, Place) and what != "a value":
        message = f"{what} has no member `{name}`{errors.did_you_mean(name, names)}"
    else:
        what = "a number" if what == "a value" else what
        message = f"`{name}` of {what} cannot be assigned in a kernel"
    stager.fail(target, message, owner.advice_for_member())


def stage_place(stager: Stager, node: ast.expr) -> Place:
    """The place that an atomic operation or an augmented assignment updates."""
    if isinstance(node, ast.Subscript):
        owner = stage_target(stager, node.value)
        place = owner.element(stager, stage_index(stager, node.slice), node)
        if place is None:
            stager.fail_type(node, f"{owner.describe()} cannot be modified in a kernel")
        return place
    if isinstance(node, ast.Name):
        binding = stager.names.get(node.id)
        if isinstance(binding, Place):
            return binding
        known = stager.load(node.id, node) if binding is None or node.id in stager.fixed else binding
        if known.is_array():
            message = f"`{node.id}` is an array: only its elements can be updated"
            stager.fail_type(node, message, f"write `{node.id}[i]` instead of `{node.id}`")
        if node.id in stager.fixed:
            stager.fail(
                node,
                f"`{node.id}` is a parameter of the kernel and cannot be modified",
                "copy it into a local variable, or pass an array",
            )
        if binding is not None and binding.is_run_time():
            stager.want_variable(node.id)
    if isinstance(node, ast.Attribute):
        return stage_member(stager, node)
    stager.fail(node, "this cannot be modified", "use an array element, `a[i]`, or a local variable")
