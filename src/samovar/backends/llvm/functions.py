"""IR functions as LLVM functions. One that can fail returns a flag before its results, true on failure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from samovar.artifact import Site
from samovar.backends.llvm.array_tables import SLOT
from samovar.backends.llvm.control import region
from samovar.backends.llvm.module import INVARIANT, OUTLINED, PLAIN, Callee, Module
from samovar.backends.llvm.types import register_type
from samovar.backends.llvm.writer import Writer, extent_range, parts_taken
from samovar.ir import CELL_OPERATIONS, Array, Function, Local, Operation, Touch, Value, dtype_of, memory, walk

#: Parameter attributes of extents, for ordinary and wide arrays.
EXTENT_RANGE = "noundef range(i64 0, 2147483648)"
WIDE_EXTENT_RANGE = "noundef range(i64 0, -9223372036854775808)"


def part_fact(array: Array, part: str) -> str:
    """Type and attributes of a part of an array as a parameter."""
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
            # As parameters, arrays of the table could be `noalias`.
            written = {function.parameters[place] for place in callee.written}
            shared = [each for each in function.parameters if isinstance(each, Array) and self.table.has(each)]
            self.aliases = module.alias_scopes(shared, written)
        for position, parameter in enumerate(function.parameters):
            if isinstance(parameter, Array):
                if self.table is None or not self.table.has(parameter):
                    self._array(parameter, position)
            else:
                name = self.values[parameter] = f"%p{position}"
                self.parameters.append(f"{register_type(dtype_of(parameter))} noundef {name}")

    def _array(self, array: Array, position: int) -> None:
        for part, axis in parts_taken(array, position in self.lengths):
            name = self.parts[array, part, axis] = f"%a{position}.{part}{axis}"
            self.parameters.append(f"{part_fact(array, part)} {name}")

    def _part(self, array: Array, part: str, axis: int) -> str:
        """Load at the place of use: LLVM finds common loads, and unreached code needs none."""
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
        raise LookupError("a function uses a value that it neither computes nor has as a parameter")

    def array_part(self, array: Array, part: str, axis: int) -> str:
        raise LookupError(f"a function uses the array {array.name!r}, which is not a parameter")

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
    """A load of a part of an array from its slot in a table."""
    kind = "ptr" if part == "pointer" else "i64"
    return f"load {kind}, ptr {place}, align {SLOT}{extent_range(array, part)}{INVARIANT}"


def render_function(module: Module, function: Function, name: str, is_unit: bool = False) -> Callee:
    """Add a function to the module, with its callees; a unit is visible to other modules."""
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
    """A function as rendered into one module. If it is whole, because it refers only to declarations of that module, its
    text is the same in every other one."""

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
    """Add a function to the module, and report whether it can be added to other modules unchanged."""
    references, declarations = module.references, module.declarations
    own: dict[str, str] = {}
    module.declarations = own
    callee = render_function(module, function, name)
    module.declarations = declarations
    copy = Copy(callee, module.definitions.pop(), own, module.references == references)
    copy.put(module)
    return copy


def _declared(writer: FunctionWriter, function: Function, written: set[Value]) -> Iterator[str]:
    """The parameters without names, for declarations in other modules, which know nothing else about the function."""
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
    """The effects of a call of a function, including its callees."""

    fails: bool = False
    context: bool = False
    reads: bool = False
    written: set[Value] = field(default_factory=set)
    lengths: set[Value | Local] = field(default_factory=set)
    returns: bool = True

    def facts(self, has_table: bool) -> str:
        """Attributes of a declaration. Output has unknown effects, and arrays of a table may be anywhere in memory."""
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
        if payload is None and code not in ("key", "push", "pop", "while", "poll"):
            continue  # pure operations, the most common case
        if code == "call":
            called = module.callee(payload)
            found.fails |= called.fails
            found.context |= called.context
            found.reads |= "memory(none)" not in called.facts
            found.returns &= "willreturn" in called.facts
            found.written.update(operation.operands[place] for place in called.written)
            found.lengths.update(operation.operands[place] for place in called.lengths)
        elif code in ("print", "key", "push", "pop", "touch"):
            found.context = True
            if isinstance(payload, Touch):
                found.lengths.add(payload.target)
        elif code in CELL_OPERATIONS:
            found.context = True  # it accesses memory at a distance from the array
            found.written.add(payload)
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
