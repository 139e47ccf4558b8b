"""IR functions as LLVM functions. One that can fail returns a flag before its results: true, it failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from samovar.artifact import Site
from samovar.backends.llvm.array_tables import SLOT, Table
from samovar.backends.llvm.control import region
from samovar.backends.llvm.module import EXTENT, INVARIANT, OUTLINED, PLAIN, WIDE_EXTENT, Callee, Module
from samovar.backends.llvm.types import register_type
from samovar.backends.llvm.writer import Writer, parts_taken
from samovar.ir import Array, Function, Local, Operation, Touch, Value, memory, walk

#: Extents of arrays that are not wide, and of wide ones, as facts of a parameter.
EXTENT_RANGE = "noundef range(i64 0, 2147483648)"
WIDE_EXTENT_RANGE = "noundef range(i64 0, -9223372036854775808)"


def part_fact(array: Array, part: str) -> str:
    """Type and facts of a part of an array as a parameter."""
    if part == "pointer":
        return "ptr noalias noundef" if array.alone else "ptr noundef"
    if part == "extent":
        return "i64 " + (WIDE_EXTENT_RANGE if array.wide else EXTENT_RANGE)
    return "i64 noundef"


class FunctionWriter(Writer):
    """The body of an IR function."""

    def __init__(self, module: Module, function: Function, callee: Callee) -> None:
        super().__init__(module)
        self.callee = callee
        self.returns = function.returns
        self.lengths = callee.lengths
        self.table = module.program.tables.of(function)
        self.parameters: list[str] = ["ptr noundef %context"] if callee.context else []
        if self.table is not None:
            self.parameters.append(f"ptr noalias noundef readonly dereferenceable({SLOT * self.table.size}) %arrays")
            self.alias_marks = self._alias_marks(self.table, function, callee)
        for position, parameter in enumerate(function.parameters):
            if isinstance(parameter, Array):
                if self.table is None or not self.table.has(parameter):
                    self._array(parameter, position)
            else:
                assert parameter.type is not None
                name = self.values[parameter] = f"%p{position}"
                self.parameters.append(f"{register_type(parameter.type)} noundef {name}")

    def _array(self, array: Array, position: int) -> None:
        for part, axis in parts_taken(array, position in self.lengths):
            name = self.parts[array, part, axis] = f"%a{position}.{part}{axis}"
            self.parameters.append(f"{part_fact(array, part)} {name}")

    def _alias_marks(self, table: Table, function: Function, callee: Callee) -> Callable[[Array], str]:
        """What is said at an access to an array of the table: as parameters, those that are alone would be `noalias`."""
        alone = [each for each in function.parameters if isinstance(each, Array) and each.alone and table.has(each)]
        written = {function.parameters[place] for place in callee.written}
        marks = self.module.alias_scopes([each for each in alone if each in written])
        return lambda array: marks(array) if array in alone else ""

    def access_of(self, array: Array) -> str:
        in_table = self.table is not None and self.table.has(array)
        return super().access_of(array) + (self.alias_marks(array) if in_table else "")

    def _part(self, array: Array, part: str, axis: int) -> str:
        """Loaded where it is used: LLVM finds out where else it is, and code that is not reached needs none of it."""
        slot = None if self.table is None else self.table.slots.get((array, part, axis))
        if slot is None:
            return super()._part(array, part, axis)
        place = self.define(f"getelementptr inbounds i8, ptr %arrays, i64 {SLOT * slot}", "at") if slot else "%arrays"
        return self.define(_loaded(array, part, place), part)

    def early_part(self, array: Array, part: str, axis: int) -> str:
        slot = None if self.table is None else self.table.slots.get((array, part, axis))
        if slot is None:
            return super().early_part(array, part, axis)
        place = self.define_early(f"getelementptr inbounds i8, ptr %arrays, i64 {SLOT * slot}", "at")
        return self.define_early(_loaded(array, part, place), part)

    def outside(self, value: Value) -> str:
        raise LookupError("a function uses a value that it neither computes nor takes")

    def array_part(self, array: Array, part: str, axis: int) -> str:
        raise LookupError(f"a function uses the array {array.name!r}, which it does not take")

    def context(self) -> str:
        return "%context"

    def leave(self) -> str:
        if not self.returns:
            return "ret i1 true"
        rest = "".join(f", {register_type(dtype)} poison" for dtype in self.returns)
        return f"ret {self.callee.result} {{ i1 true{rest} }}"

    def give(self, operation: Operation) -> None:
        result = self.callee.result
        values = [f"{register_type(operand.type)} {self.value(operand)}" for operand in operation.operands if operand.type]
        if self.callee.fails:
            values.insert(0, "i1 false")
        if not values:
            self.emit("ret void")
        elif len(values) == 1:
            self.emit(f"ret {values[0]}")
        else:
            whole = "poison"
            for position, value in enumerate(values):
                whole = self.define(f"insertvalue {result} {whole}, {value}, {position}")
            self.emit(f"ret {result} {whole}")


def _loaded(array: Array, part: str, place: str) -> str:
    """A part of an array, from its slot in a table."""
    if part == "pointer":
        return f"load ptr, ptr {place}, align {SLOT}{INVARIANT}"
    extent = "" if part != "extent" else WIDE_EXTENT if array.wide else EXTENT
    return f"load i64, ptr {place}, align {SLOT}{extent}{INVARIANT}"


def render_function(module: Module, function: Function, name: str, is_unit: bool = False) -> Callee:
    """Add a function to the module, with those that it calls; a unit is the one that others see."""
    effects = _effects(module, function)
    kinds = [register_type(dtype) for dtype in function.returns]
    if effects.fails:
        kinds.insert(0, "i1")
    result = "void" if not kinds else kinds[0] if len(kinds) == 1 else "{ " + ", ".join(kinds) + " }"
    written = frozenset(place for place, each in enumerate(function.parameters) if each in effects.written)
    lengths = frozenset(place for place, each in enumerate(function.parameters) if each in effects.lengths)
    has_table = module.program.tables.of(function) is not None
    callee = Callee(name, result, effects.fails, effects.context, written, lengths, facts=effects.facts(has_table))
    module.callees[function] = callee
    writer = FunctionWriter(module, function, callee)
    for local in function.locals:
        writer.declare_local(local)
    region(writer, function.body)
    if not writer.terminated:
        writer.emit("ret void" if result == "void" else "ret i1 false" if not function.returns else "unreachable")
    stays = function.separate or function.outlined
    linkage, facts = ("hidden", PLAIN) if is_unit else ("internal", OUTLINED if stays else PLAIN)
    header = f"define {linkage} {result} @{callee.name}({', '.join(writer.parameters)}) {facts}"
    module.definitions.append(writer.text(header))
    return replace(callee, declared=", ".join(_declared(writer, function, effects.written)))


@dataclass(frozen=True)
class Copy:
    """A function as it was rendered into one module. One that is whole, because it refers to nothing of that module but what
    it declares, is the same text in every other one."""

    callee: Callee
    definition: str
    declarations: dict[str, str]
    is_whole: bool

    def put(self, module: Module) -> None:
        """Add it to another module."""
        for name, line in self.declarations.items():
            module.declare(name, line)
        module.definitions.append(self.definition)


def render_copy(module: Module, function: Function, name: str) -> Copy:
    """Add a function to the module, and say whether it can be added to others as it is."""
    references, declarations = module.references, module.declarations
    own: dict[str, str] = {}
    module.declarations = own
    callee = render_function(module, function, name)
    module.declarations = declarations
    copy = Copy(callee, module.definitions.pop(), own, module.references == references)
    copy.put(module)
    return copy


def _declared(writer: FunctionWriter, function: Function, written: set[Value]) -> Iterator[str]:
    """The parameters without names, as a module declares them that knows nothing of the function but this."""
    names = {
        writer.parts[each, "pointer", 0]: "" if each in written else " readonly"
        for each in function.parameters
        if isinstance(each, Array) and (each, "pointer", 0) in writer.parts
    }
    for parameter in writer.parameters:
        fact, _, name = parameter.rpartition(" ")
        yield f"{fact} captures(none){names[name]}" if name in names else fact


@dataclass
class _Effects:
    """What a call of a function does, those that it calls in turn included."""

    fails: bool = False
    context: bool = False
    reads: bool = False
    written: set[Value] = field(default_factory=set)
    lengths: set[Value | Local] = field(default_factory=set)
    returns: bool = True

    def facts(self, has_table: bool) -> str:
        """As attributes of a declaration. What speaks does more than anybody knows, and arrays of a table are anywhere."""
        if self.context:
            return ""
        memory = "readwrite" if self.written else "read" if self.reads or has_table else "none"
        if memory != "none" and not has_table:
            memory = f"argmem: {memory}"
        return f"{'willreturn ' if self.returns else ''}memory({memory})"


def _effects(module: Module, function: Function) -> _Effects:
    found = _Effects()
    for operation in walk(function.body):
        code, payload = operation.code, operation.payload
        if payload is None and code not in ("random", "while", "poll"):
            continue  # most of them compute something
        if code == "call":
            called = module.callee(payload)
            found.fails |= called.fails
            found.context |= called.context
            found.reads |= "memory(none)" not in called.facts
            found.returns &= "willreturn" in called.facts
            found.written.update(operation.operands[place] for place in called.written)
            found.lengths.update(operation.operands[place] for place in called.lengths)
        elif code in ("print", "random", "touch"):
            found.context = True
            if isinstance(payload, Touch):
                found.lengths.add(payload.target)
        elif code == "shape":
            found.lengths.add(payload[0])
        elif isinstance(payload, Site) or code == "poll":
            found.fails = found.context = True
        elif code == "while":
            found.returns = False
        elif isinstance(target := memory(operation), Array):
            if code == "load":
                found.reads = True
            else:
                found.written.add(target)
    return found
