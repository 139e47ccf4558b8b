"""Plants faults into a copy of the sources, one at a time, and looks whether a test sees each of them.

    python tests/planted_faults.py [words that a fault's file or tests contain …]

A fault is a file of the package, a text in it, what stands there instead, and the tests that must fail then. Where a text
is no longer found, or is there more than once, the fault has lost its place, and is to be put to where the rule has gone.
Ends with 1 if a fault survives or has lost its place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
#: Nothing here takes so long, unless a fault makes a test wait for ever.
MOST_SECONDS = 600


class Fault(NamedTuple):
    file: str  # below src/samovar
    before: str
    after: str
    tests: str  # below tests


FAULTS = [
    # reflection
    Fault("reflection/classes.py", "for base in bases(cls):", "for base in bases(cls)[:1]:", "lens/test_data_oriented.py"),
    Fault(
        "reflection/classes.py",
        'return name not in object.__getattribute__(value, "__dict__")',
        "return True",
        "runtime/test_guards_of_another_nature.py",
    ),
    # language
    Fault(
        "language/options.py",
        "return options.debug or options.check_out_of_bound or options.check_races",
        "return False",
        "cache/test_moved_lines.py language/test_options.py",
    ),
    Fault(
        "language/options.py",
        "            if name not in DEFAULTS:\n                raise TypeError",
        "            if False:\n                raise TypeError",
        "language/test_options.py",
    ),
    # lens
    Fault(
        "lens/question_tables.py",
        "type(value) is MethodType and value.__self__ is owner",
        "type(value) is MethodType",
        "runtime/test_guards_of_another_nature.py",
    ),
    Fault(
        "lens/lines.py",
        "known[1] if known is not None and known[2] == version else _read_lines(file, version)",
        "known[1] if known is not None else _read_lines(file, version)",
        "lens/test_lines.py",
    ),
    Fault(
        "lens/reference.py",
        "if present_lines(self._function, text[0]) == text[1]), None)",
        "if text[0]), None)",
        "cache/test_compared_texts.py",
    ),
    Fault(
        "lens/long_sequences.py",
        'self.digest = "" if self.answers is None else plain_digest(_encoded(self.answers))',
        'self.digest = ""',
        "cache/test_long_sequences.py",
    ),
    Fault(
        "lens/recognition.py",
        'name != "abs" and name in PUBLIC_NAMES',
        "name in PUBLIC_NAMES",
        "lens/test_recognition.py",
    ),
    # ir
    Fault(
        "ir/verifier.py",
        "    known: set[int] = set()\n    for function in kernel.functions:",
        "    return\n    known: set[int] = set()\n    for function in kernel.functions:",
        "ir/test_verifier.py",
    ),
    Fault(
        "ir/verifier.py",
        "        self.visible.difference_update(region.operations, defined, reserved)\n",
        "",
        "ir/test_verifier.py",
    ),
    Fault(
        "ir/affine.py",
        "min(form.bits, type.bits), least, greatest)",
        "form.bits, least, greatest)",
        "ir/test_affine.py",
    ),
    Fault("ir/affine.py", "return self.high - self.low < 1 << self.bits", "return True", "ir/test_affine.py"),
    Fault(
        "ir/affine.py",
        "        if step.high < 0:\n            return end.low + 1, begin.high\n",
        "        if step.high < 0:\n            return end.low + 2, begin.high\n",
        "ir/test_affine.py",
    ),
    Fault("ir/affine.py", "        if step.low > 0:\n", "        if True:\n", "passes/loops/test_peel.py"),
    Fault(
        "ir/affine.py",
        "self.bits >= 32 and not array.wide",
        "self.bits >= 8 and not array.wide",
        "passes/loops/test_divergence.py",
    ),
    Fault("ir/affine.py", "return abs(self.constant) < _HALF // 2", "return True", "ir/test_affine.py"),
    Fault(
        "ir/affine.py",
        "            elif symbol.identity in varying:\n                return None\n",
        "",
        "passes/loops/test_divergence.py",
    ),
    Fault(
        "ir/ranges.py",
        "(one[0] - other[1], one[1] - other[0])",
        "(one[0] - other[0], one[1] - other[1])",
        "ir/test_ranges.py",
    ),
    Fault("ir/ranges.py", "low // (least if low < 0 else greatest)", "low // greatest", "ir/test_ranges.py"),
    Fault(
        "ir/ranges.py",
        "return 0, (1 << max(one[1], other[1]).bit_length()) - 1",
        "return 0, max(one[1], other[1])",
        "ir/test_ranges.py",
    ),
    Fault(
        "ir/ranges.py",
        "if found is None or found[0] < least or found[1] > greatest:",
        "if found is None or found[1] > greatest:",
        "ir/test_ranges.py",
    ),
    Fault(
        "ir/ranges.py",
        "return ANYTHING if math.isnan(number) else FloatRange(number, number, False)",
        "return FloatRange(number, number, False)",
        "passes/test_truncations.py",
    ),
    Fault("ir/builder.py", 'if (code == "add" and a == 0) or', 'if (code != "mul" and a == 0) or', "ir/test_builder.py"),
    Fault(
        "ir/builder.py",
        "Constant(left.type(_FOLDS[code](a, b)), left.type)",
        "Constant(_FOLDS[code](a, b), left.type)",
        "ir/test_builder.py",
    ),
    Fault("ir/builder.py", "        if width or mask is not None:\n", "        if width:\n", "ir/test_builder.py"),
    Fault("ir/clone.py", "made.mask = self.value(made.mask)", "made.mask = made.mask", "ir/test_clone.py"),
    Fault("ir/clone.py", "fresh = self.values[variable] = LoopVariable(", "fresh = LoopVariable(", "ir/test_clone.py"),
    Fault(
        "ir/clone.py",
        "self.values[array] = self.targets[array] = array.copy()",
        "self.values[array] = self.targets[array] = array",
        "ir/test_clone.py",
    ),
    Fault(
        "passes/derivatives/unchosen.py",
        'elif operation in found and operation.code in ("load", "load_local"):',
        'elif operation in found and operation.code == "load_local":',
        "language/test_gradients_of_choices.py",
    ),
    Fault(
        "passes/derivatives/unchosen.py",
        'build.make("isnan", u1, product)',
        'build.make("eq", u1, weight, zero)',
        "language/test_gradients_of_choices.py",
    ),
    Fault(
        "_native/threads/pool.c",
        "            return (int)(gate & JOINED) + 1;",
        "            return (int)(gate & JOINED) + 8;",
        "runtime/test_time_and_threads.py",
    ),
    # backends/llvm, and passes beside those of loops
    Fault(
        "passes/outline.py",
        'exists = build.make("and", u1, exists, build.compare("lt", wide, extent))',
        "pass",
        "passes/test_outline.py",
    ),
    Fault(
        "backends/llvm/indices.py",
        "return form.bits == 64 or (form.bits >= 32 and not array.wide and low >= _LEAST and high < _LIMIT)",
        "return True",
        "language/test_wrapping_indices.py",
    ),
    Fault(
        "backends/llvm/control.py",
        '    return writer.define(f"select i1 {some}, i64 {count}, i64 0")',
        "    return count",
        "backends/test_control.py",
    ),
    Fault(
        "backends/llvm/control.py",
        '    whole = writer.define(f"udiv i64 {before_last}, {divisor}")',
        '    whole = writer.define(f"udiv i64 {distance}, {divisor}")',
        "backends/test_control.py",
    ),
    Fault(
        "backends/llvm/operations.py",
        'predicate = "fcmp une" if code == "ne" else f"fcmp o{code}"',
        'predicate = "fcmp one" if code == "ne" else f"fcmp o{code}"',
        "backends/test_operations.py",
    ),
    Fault(
        "backends/llvm/operations.py",
        "'sext' if is_signed(source) else 'zext'",
        "'zext' if is_signed(source) else 'zext'",
        "backends/test_conversions.py",
    ),
    Fault(
        "backends/llvm/operations.py",
        "'sitofp' if is_signed(source) else 'uitofp'",
        "'sitofp' if is_signed(source) else 'sitofp'",
        "backends/test_conversions.py",
    ),
    Fault(
        "backends/llvm/mathematics.py",
        'larger = writer.define(f"fcmp ogt {kind} {factor}, {least}")',
        'larger = writer.define(f"fcmp uge {kind} {factor}, {least}")',
        "language/test_reciprocal_roots.py",
    ),
    Fault(
        "backends/llvm/mathematics.py",
        "        taken = [_lanes(writer, kind, argument, width, first, lanes) for argument in arguments]\n",
        "        taken = [_lanes(writer, kind, argument, width, 0, lanes) for argument in arguments]\n",
        "passes/test_native.py",
    ),
    Fault(
        "backends/llvm/minmax.py",
        "    if dtype.bits == 16 or any(map(_adds_zero, operation.operands)):\n",
        "    if dtype.bits == 16:\n",
        "language/test_running_extremes.py",
    ),
    Fault(
        "backends/llvm/minmax.py",
        'missing = writer.define(f"fcmp uno {kind} {b}',
        'missing = writer.define(f"fcmp uno {kind} {a}',
        "backends/test_minmax.py",
    ),
    Fault(
        "backends/llvm/functions.py",
        "            found.fails |= called.fails\n",
        "",
        "backends/test_failures.py",
    ),
    Fault(
        "backends/llvm/tasks.py",
        '        self.prologue.append(f"  store {kind} {name}, ptr {self.slots[local]}")\n',
        "",
        "backends/test_tasks.py",
    ),
    Fault(
        "backends/llvm/array_tables.py",
        "slots.update({(array, *part): len(slots) + place",
        "slots.update({(array, *part): place",
        "compiler/test_array_tables.py",
    ),
    Fault(
        "backends/llvm/target.py",
        '        if not features.get("avx2"):\n            return SCALAR\n',
        "",
        "backends/test_plain_loops.py",
    ),
    Fault(
        "backends/llvm/effort.py",
        "    level = worth if opt_level == BY_WORTH else opt_level\n",
        "    level = opt_level\n",
        "compiler/test_effort.py",
    ),
    Fault(
        "backends/llvm/denormals.py",
        '        "  store i32 %state.before, ptr %state",\n',
        "",
        "backends/test_denormals.py",
    ),
    Fault(
        "backends/llvm/effects.py",
        "    place = operation.payload + (1 if callee.fails else 0)\n",
        "    place = operation.payload\n",
        "passes/test_split.py",
    ),
    Fault(
        "passes/legalize.py",
        'negative = steps.compare("lt", steps.compute("xor", a, b), steps.number(0))',
        'negative = steps.compare("lt", a, steps.number(0))',
        "passes/test_legalize.py",
    ),
    Fault(
        "passes/legalize.py",
        'keeps_sign = operation.code == "shr" and type.kind == "int"',
        'keeps_sign = operation.code == "shr"',
        "passes/test_legalize.py",
    ),
    Fault(
        "passes/legalize.py",
        "    if mark is None and last != greatest:\n",
        "    if False:\n",
        "passes/test_legalize.py",
    ),
    Fault(
        "passes/locals.py",
        "and not (target.shared and self._in_task)",
        "",
        "passes/test_locals.py",
    ),
    Fault(
        "passes/locals.py",
        '        if operation.code != "if":\n            self._forget(self._assigned[operation])\n',
        "",
        "passes/test_locals.py",
    ),
    Fault(
        "passes/narrow.py",
        "            if all(user in replaced for each in inside for user in found[each])\n",
        "",
        "passes/test_narrow.py",
    ),
    Fault(
        "passes/reductions.py",
        "    return target.alone and not any(target in arrays",
        "    return not any(target in arrays",
        "passes/test_reductions.py",
    ),
    Fault(
        "passes/ownership.py",
        "            if factor <= reach:\n                return False\n",
        "",
        "passes/test_ownership.py",
    ),
    # passes
    Fault(
        "passes/dead_code.py",
        "return operation.trip_count() != 0 and",
        "return",
        "passes/test_dead_code.py",
    ),
    Fault("passes/ownership.py", "if self.spread < power and", "if", "passes/test_ownership.py"),
    Fault("passes/order.py", "        if verified:\n", "        if False:\n", "passes/test_order.py"),
    Fault(
        "ir/cost.py",
        "return Cost(max(dearest, conditions.nanoseconds), conditions.unknown)",
        "return conditions",
        "ir/test_cost.py",
    ),
    Fault(
        "passes/loops/dependence.py",
        "return {*found, operation.code}",
        'return {*found, "written"}',
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/dependence.py",
        "return difference % step != 0 or difference == 0 if step else difference != 0",
        "return difference % step != 0 or difference == 0 if step else True",
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/dependence.py",
        ' or (operation.code == "sub" and operation.operands[0] is not old):',
        ":",
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/dependence.py",
        "_SMALLER[compare.code] == (right is old)",
        "_SMALLER[compare.code]",
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/dependence.py",
        "if not together or any",
        "if any",
        "language/test_loops_that_almost_fit.py",
    ),
    Fault(
        "backends/llvm/memory.py",
        "step = int(factor.value)",
        "step = 1",
        "language/test_gathers.py",
    ),
    Fault(
        "passes/loops/forward_elements.py",
        "return _Element(*self.affine.element(operation))",
        "return operation",
        "passes/loops/test_forward_elements.py",
    ),
    Fault(
        "passes/loops/forward_elements.py",
        'elif operation.code in ("load", "update"):',
        'elif operation.code == "update":',
        "passes/loops/test_forward_elements.py",
    ),
    Fault(
        "passes/loops/emit.py",
        "        if each.compared:\n            return self.build.get(each.local)\n",
        "",
        "language/test_running_extremes.py",
    ),
    Fault(
        "passes/loops/dependence.py",
        "    if not results.isdisjoint(accesses):\n        return False\n",
        "",
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/dependence.py",
        "if not array.alone and not isinstance(array, LocalArray):",
        "if False:",
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/divergence.py",
        "return divergent or (any(after) and leaves(operation))",
        "return divergent",
        "passes/loops/test_divergence.py",
    ),
    Fault(
        "passes/loops/divergence.py",
        "            if varies or divergent:\n",
        "            if varies:\n",
        "passes/loops/test_divergence.py",
    ),
    Fault(
        "passes/loops/divergence.py",
        "        if total == 0 and any(steps):\n            return None\n",
        "",
        "passes/loops/test_divergence.py",
    ),
    Fault(
        "passes/loops/divergence.py",
        "self.varying) if self.affine.form(index).indexes(array) else None",
        "self.varying)",
        "passes/loops/test_vectorize.py",
    ),
    Fault(
        "passes/loops/vectorize.py",
        "return self.mask is None or self.mask in self.inhabited",
        "return True",
        "passes/loops/test_vectorize.py",
    ),
    Fault(
        "passes/loops/vectorize.py",
        "loop_mask.mask = None if begins and variable not in self.plan.varying else self.mask",
        "loop_mask.mask = self.mask",
        "passes/loops/test_vectorize.py",
    ),
    Fault(
        "passes/loops/vectorize.py",
        "condition in self.vital and not inverted)\n                    self.mask = outer\n",
        "condition in self.vital and not inverted)\n",
        "passes/loops/test_vectorize.py",
    ),
    Fault(
        "passes/loops/vectorize.py",
        "Constant(size - 1, i64))",
        "Constant(0, i64))",
        "passes/loops/test_vectorize.py",
    ),
    Fault(
        "passes/loops/vectorize.py",
        "self._touch(operation, wide, [*own, lanes], None, [])",
        "self._touch(operation, wide, [*own, Constant(0, i32)], None, [])",
        "passes/loops/test_plan.py",
    ),
    Fault(
        "passes/loops/emit.py",
        "lambda: self._one_by_one(begin, end,",
        "lambda: self._one_by_one(stop, end,",
        "passes/loops/test_emit.py",
    ),
    Fault(
        "passes/loops/emit.py",
        "                new = build.choose(nothing, old, new)\n",
        "",
        "passes/loops/test_emit.py",
    ),
    Fault(
        "passes/loops/emit.py",
        'build.make("and", i64, count, Constant(-width, i64))',
        "count",
        "passes/loops/test_emit.py",
    ),
    Fault(
        "passes/loops/emit.py",
        'mask = build.compare("lt", lanes,',
        'mask = build.compare("le", lanes,',
        "passes/loops/test_emit.py",
    ),
    Fault(
        "passes/loops/emit.py",
        "return found if len(found) == len(self.reductions) and not effects else set()",
        "return found",
        "passes/loops/test_emit.py",
    ),
    Fault("passes/loops/peel.py", "        if form.bits < 32:", "        if False:", "passes/loops/test_peel.py"),
    Fault("passes/loops/peel.py", "(_Limit(modulus, -1),)", "(_Limit(modulus, 0),)", "passes/loops/test_peel.py"),
    Fault(
        "passes/loops/peel.py",
        "if self._is_near(reached, form, self._ends()[not rises]):",
        "if True:",
        "passes/loops/test_peel.py",
    ),
    Fault(
        "passes/loops/peel.py",
        "Constant(-int(bound.value), i64)",
        "Constant(1 - int(bound.value), i64)",
        "passes/loops/test_peel.py",
    ),
    Fault(
        "passes/loops/index_sets.py",
        "min(first.bits, last.bits) < 64 or",
        "",
        "passes/loops/test_peel.py",
    ),
    Fault(
        "passes/loops/peel.py",
        'limit.constant + (code in ("gt", "le"))',
        "limit.constant",
        "passes/loops/test_peel.py",
    ),
    Fault("passes/loops/peel.py", "(*upper, _Limit(modulus, _LIMIT - 1, -1))", "upper", "passes/loops/test_peel.py"),
    Fault(
        "passes/loops/safepoints.py",
        "            if exits(loop.body):\n",
        "            if False:\n",
        "passes/loops/test_safepoints.py",
    ),
    Fault(
        "passes/loops/safepoints.py",
        "size = build.min(distance, reach)",
        "size = reach",
        "passes/loops/test_safepoints.py",
    ),
    Fault(
        "passes/loops/safepoints.py",
        "stride, upwards = loop.stride, loop.stride > 0",
        "stride, upwards = loop.stride, True",
        "passes/loops/test_safepoints.py",
    ),
    Fault(
        "passes/loops/safepoints.py",
        "if any(isinstance(each, (Task, Sections)) for each in walk(loop.body)):",
        "if False:",
        "passes/loops/test_safepoints.py",
    ),
    Fault(
        "passes/loops/work.py",
        "return build.sub(low, most), build.sub(high, least)",
        "return build.sub(low, least), build.sub(high, most)",
        "passes/loops/test_work.py",
    ),
    Fault("passes/loops/work.py", "length * max(1.0, inner)", "length", "passes/loops/test_work.py"),
    Fault(
        "passes/loops/work.py",
        "distance = build.max(build.sub(most, least), _NOTHING)",
        "distance = build.sub(most, least)",
        "passes/loops/test_work.py",
    ),
    Fault(
        "passes/loops/price.py",
        "return max(1.0, width * max(dtype.bits, 8) / self.machine.vector_bits)",
        "return 1.0",
        "passes/loops/test_price.py",
    ),
    Fault(
        "passes/loops/price.py",
        "total += sum(sides) + SIMPLE if varies else max(sides) + BRANCH",
        "total += max(sides) + BRANCH",
        "passes/loops/test_price.py",
    ),
    Fault("ir/structure.py", "if step.value else 0\n", "if step.value else 1\n", "passes/loops/test_price.py"),
    Fault(
        "passes/loops/plan.py",
        "        if self._suits_backend(found.plan, found.found):\n",
        "        if False:\n",
        "passes/loops/test_plan.py",
    ),
    Fault(
        "passes/loops/plan.py",
        "if choice.vectors is not None and self.left > 0:",
        "if choice.vectors is not None:",
        "passes/loops/test_plan.py",
    ),
    Fault(
        "passes/loops/emit.py",
        "return begin if self.step > 0 else self._after",
        "return begin if True else self._after",
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/emit.py",
        "Constant(0 if distance.reads_first else reach, i64)",
        "Constant(0, i64)",
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/emit.py",
        "ahead = total if distance.step > 0 else",
        "ahead = total if True else",
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/dependence.py",
        "reading = not any(isinstance(each, (For, While)) for each in walk(loop.body))",
        "reading = True",
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/dependence.py",
        'reading = reading and access.code == "load"',
        'reading = access.code == "load"',
        "passes/loops/test_dependence.py",
    ),
    Fault(
        "passes/loops/plan.py",
        "        if width * local_bytes(loop.body) > LOCAL_BYTES:\n",
        "        if False:\n",
        "passes/loops/test_plan.py compiler/test_local_memory.py",
    ),
    Fault(
        "passes/loops/inline_calls.py",
        "if found is None or found.copied > self._left:",
        "if found is None:",
        "passes/loops/test_inline_calls.py",
    ),
    Fault(
        "passes/loops/inline_calls.py",
        'if target.shared and operation.code != "atomic":',
        "if False:",
        "passes/loops/test_inline_calls.py",
    ),
    Fault(
        "passes/loops/inline_calls.py",
        "isinstance(target, Array) or computes(operation)",
        "isinstance(target, Array) or True",
        "passes/loops/test_inline_calls.py",
    ),
    Fault("passes/loops/inline_calls.py", "if total.size > LARGEST or", "if", "passes/loops/test_inline_calls.py"),
    Fault(
        "passes/loops/carry.py",
        "return all(are_distinct(access, each, self.affine, self.within) for each in others)",
        "return True",
        "passes/loops/test_carry.py",
    ),
    Fault(
        "passes/loops/carry.py",
        "isinstance(array, Array) and array.alone",
        "isinstance(array, Array)",
        "passes/loops/test_carry.py",
    ),
    Fault(
        "passes/loops/carry.py", "values = [value, *olds[:-1]]", "values = [value, *olds[1:]]", "passes/loops/test_carry.py"
    ),
    Fault(
        "passes/loops/carry.py",
        "if place in certain else loaded_if_there(build, load, self.locals)",
        "if True else loaded_if_there(build, load, self.locals)",
        "passes/loops/test_carry.py",
    ),
    Fault("passes/loops/congruence.py", "Constant(step - 1, i64)", "Constant(step, i64)", "passes/loops/test_congruence.py"),
    Fault("passes/loops/congruence.py", "(value, 2, 1 - wanted)", "(value, 2, wanted)", "passes/loops/test_congruence.py"),
    Fault(
        "passes/loops/congruence.py",
        "if factors not in ([1], [-1]) or",
        "if not factors or",
        "passes/loops/test_congruence.py",
    ),
    Fault(
        "passes/loops/congruence.py",
        "if factors == [1] else (missing, Constant(remainder, i64))",
        "if True else (missing, Constant(remainder, i64))",
        "passes/loops/test_congruence.py",
    ),
    Fault(
        "passes/loops/forward_elements.py",
        "if array is target or not (array.alone or target.alone):",
        "if array is target:",
        "passes/loops/test_forward_elements.py",
    ),
    Fault(
        "passes/loops/forward_elements.py",
        "        if not isinstance(operation, If):\n            before = known\n",
        "",
        "passes/loops/test_forward_elements.py",
    ),
    Fault(
        "passes/loops/forward_elements.py",
        "if is_needed and here.isdisjoint(load.operands):",
        "if is_needed:",
        "passes/loops/test_forward_elements.py",
    ),
    Fault(
        "passes/loops/forward_elements.py",
        "                if any(each.code in _JUMPS for each in within):\n                    coming.clear()\n",
        "",
        "passes/loops/test_forward_elements.py",
    ),
    Fault(
        "passes/loops/held.py",
        "if found is not None and found.version == self._version(key[0]) else None",
        "if found is not None else None",
        "passes/loops/test_held.py",
    ),
    Fault("passes/loops/held.py", "        if key[0].alone:\n", "        if True:\n", "passes/loops/test_held.py"),
    Fault(
        "passes/loops/held.py",
        "return array, tuple(map(self.affine.number, at))",
        "return array, at",
        "passes/loops/test_held.py",
    ),
    Fault(
        "passes/loops/index_sets.py",
        "isinstance(begin, Constant) or length.terms or",
        "isinstance(begin, Constant) or",
        "passes/loops/test_peel.py",
    ),
    Fault(
        "passes/loops/index_sets.py",
        "Constant(max(0, length.constant), variable.type)",
        "Constant(max(0, length.constant - 1), variable.type)",
        "passes/loops/test_peel.py",
    ),
    Fault(
        "passes/loops/index_sets.py",
        "strided(operation, affine) or peel(operation, affine, scope)",
        "peel(operation, affine, scope)",
        "passes/loops/test_congruence.py",
    ),
    Fault(
        "passes/loops/interleave.py",
        "== set(parts.values()) == set(range(step)):",
        "== set(parts.values()):",
        "passes/loops/test_promote.py",
    ),
    Fault("passes/loops/interleave.py", "if len({row for row, _ in rows}) != 1 or", "if", "passes/loops/test_promote.py"),
    Fault(
        "passes/loops/interleave.py",
        "part not in written:\n                return True",
        "part not in written:\n                return False",
        "passes/loops/test_promote.py",
    ),
    Fault(
        "passes/loops/interleave.py",
        "for lane in range(width) for vector in range(count)",
        "for vector in range(count) for lane in range(width)",
        "passes/loops/test_promote.py",
    ),
    Fault(
        "passes/loops/promote.py",
        "not array.alone or array in self.within",
        "array in self.within",
        "passes/loops/test_promote.py",
    ),
    Fault(
        "passes/loops/promote.py",
        "seen = self.alone or element.array.private",
        "seen = True or element.array.private",
        "passes/loops/test_promote.py",
    ),
    Fault(
        "passes/loops/promote.py",
        "return not are_distinct(element.accesses[0], other, self.affine, self.within)",
        "return False",
        "passes/loops/test_promote.py",
    ),
    Fault("passes/loops/sink.py", "and array.alone and", "and", "passes/loops/test_sink.py"),
    Fault("passes/loops/sink.py", "if not within.isdisjoint(at) or", "if", "passes/loops/test_sink.py"),
    Fault(
        "passes/loops/sink.py",
        "isinstance(operation, ReadFlag):\n            touched.add(array)",
        "isinstance(operation, ReadFlag):\n            pass",
        "passes/loops/test_sink.py",
    ),
    Fault("passes/loops/speculate.py", "if array in changed or", "if", "passes/loops/test_speculate.py"),
    Fault(
        "passes/loops/speculate.py",
        "(shared and not array.alone) or",
        "",
        "passes/loops/test_speculate.py",
    ),
    Fault(
        "passes/loops/speculate.py",
        'tests.append(build.compare("ge", at, Constant(0, i64)))',
        "pass",
        "passes/loops/test_speculate.py",
    ),
    Fault(
        "passes/loops/unroll.py",
        "            if self.count > self.most:\n",
        "            if False:\n",
        "passes/loops/test_unroll.py",
    ),
    Fault(
        "passes/loops/unroll.py",
        '("break", "continue", "return", "call")',
        '("break", "return", "call")',
        "passes/loops/test_unroll.py",
    ),
    Fault("passes/loops/unroll.py", "or prod(array.shape) > MOST_ELEMENTS", "", "passes/loops/test_unroll.py"),
    Fault(
        "passes/loops/unroll.py",
        "operation.then if condition.value else operation.orelse",
        "operation.orelse if condition.value else operation.then",
        "passes/loops/test_unroll.py",
    ),
    Fault("passes/loops/price.py", "(count + tail / 2 * masked)", "count", "passes/loops/test_price.py"),
    Fault("passes/loops/price.py", "if masked else left > 0)", ")", "passes/loops/test_price.py"),
    Fault(
        "passes/loops/divergence.py",
        "(region, left), operation",
        "(None, left), operation",
        "passes/loops/test_vectorize.py",
    ),
    Fault(
        "passes/loops/divergence.py",
        "left += leaves(operation) or operation.code in _JUMPS",
        "left += 0",
        "passes/loops/test_vectorize.py",
    ),
    Fault(
        "passes/loops/divergence.py",
        "is not None or array in written or not array.alone",
        "is not None or not array.alone",
        "passes/loops/test_vectorize.py",
    ),
    Fault(
        "passes/loops/divergence.py", "if left.issuperset(run) and", "if begin in left and", "passes/loops/test_vectorize.py"
    ),
    Fault(
        "passes/loops/price.py",
        "return count is not None and count * sum(1 for _ in inside(loop)) <= UNROLLED",
        "return count is not None",
        "passes/loops/test_price.py",
    ),
    Fault(
        "passes/nest.py",
        "build.min(build.add(row_first, build.sub(last, at)), rows)",
        "rows",
        "passes/test_outline.py",
    ),
    Fault("passes/nest.py", "            build.set(row, number(0))\n", "", "passes/test_outline.py"),
    Fault(
        "passes/nest.py",
        "self._units(begin, build.min(end, total))",
        "self._units(begin, end)",
        "passes/test_outline.py",
    ),
    Fault(
        "passes/schedule.py",
        "rounded = build.add(whole.count, build.sub(size, number(1)))",
        "rounded = whole.count",
        "passes/test_schedule.py",
    ),
    Fault(
        "passes/schedule.py",
        '    count = build.choose(build.compare("eq", last, number(0)), number(0), count)\n',
        "",
        "passes/test_schedule.py",
    ),
    Fault(
        "passes/schedule.py",
        'return build.choose(build.compare("lt", low, high), build.sub(high, low), number(0))',
        "return build.sub(high, low)",
        "passes/test_schedule.py",
    ),
    Fault(
        "passes/reassociate.py",
        'signs = (sign, -sign if operation.code == "sub" else sign)',
        "signs = (sign, sign)",
        "passes/test_reassociate.py",
    ),
    Fault("passes/reassociate.py", "                and self.uses[operand] == 1\n", "", "passes/test_reassociate.py"),
    Fault(
        "passes/reassociate.py",
        'return self.fast_math or operation.type.kind in ("int", "uint")',
        "return True",
        "passes/test_reassociate.py",
    ),
    Fault(
        "passes/reassociate.py",
        "distance is not None and distance > 0 for distance",
        "distance is not None for distance",
        "passes/test_reassociate.py",
    ),
    Fault(
        "passes/outline.py",
        'dtype = f32 if reduction.type.name in ("f16", "bf16") else reduction.type',
        "dtype = reduction.type",
        "passes/test_outline.py",
    ),
    Fault(
        "ir/updates.py",
        '{"add": -0.0, "mul": 1.0}',
        '{"add": 0.0, "mul": 1.0}',
        "passes/test_outline.py",
    ),
    Fault(
        "passes/outline.py",
        "all(scatter.array.contiguous for scatter in scatters)",
        "True",
        "passes/test_outline.py",
    ),
    Fault(
        "passes/outline.py",
        "    if loop.race_checked or loop.scatters:\n",
        "    if loop.scatters:\n",
        "passes/test_outline.py",
    ),
    Fault(
        "passes/legalize.py",
        "payload=stepped, width=operation.width, mask=mask)",
        "payload=stepped, width=operation.width)",
        "passes/loops/test_vectorize.py",
    ),
    # frontend
    Fault(
        "language/promotion.py",
        'return left if left.kind == "uint" else right',
        'return left if left.kind != "uint" else right',
        "language/test_operators.py",
    ),
    Fault(
        "language/promotion.py",
        "return i64 if max(left.bits, right.bits) > 32 or u32 in (left, right) else i32",
        "return i64 if max(left.bits, right.bits) > 32 else i32",
        "language/test_extents.py",
    ),
    # backends
    Fault(
        "backends/llvm/minmax.py",
        "{'s' if is_signed(dtype) else 'u'}{code}",
        "s{code}",
        "backends/test_operations.py",
    ),
    Fault(
        "backends/images/elf.py",
        "    except (struct.error, IndexError, OverflowError, ValueError) as error:",
        "    except (IndexError, OverflowError) as error:",
        "backends/test_linking.py backends/test_loading.py",
    ),
    Fault(
        "frontend/staged/struct_tensor.py",
        'return ("structs", self.struct.specialization_key(stager, node), members)',
        'return ("structs", members)',
        "frontend/test_specialization_of_funcs.py",
    ),
    Fault(
        "frontend/staged/struct.py",
        'return ("struct", self.struct.specialization_key(stager, node), members)',
        'return ("struct", members)',
        "frontend/test_specialization_of_funcs.py",
    ),
    Fault(
        "frontend/staged/struct.py",
        'return ("struct type", self.kind.key(), None if self.ref is None else self.ref.path, self.within)',
        'return ("struct type", self.kind.key(), self.within)',
        "frontend/test_specialization_of_funcs.py",
    ),
    Fault(
        "frontend/staged/tensor.py",
        "kind = (array.element or array.dtype, array.ndim, array.boundary, array.private, array.soa_ndim, array.order)",
        "kind = (array.element or array.dtype, array.ndim, array.private, array.soa_ndim, array.order)",
        "frontend/test_specialization_of_funcs.py",
    ),
    Fault(
        "frontend/staged/tensor.py",
        "array.extents, array.layout, array.offset, array.record_stride)\n        kind",
        "array.extents, array.layout, array.record_stride)\n        kind",
        "frontend/test_specialization_of_funcs.py",
    ),
    # cache
    Fault(
        "cache/compile_lock.py",
        "if self._holder in _holders or self._holder[:2] in _of_parent:",
        "if self._holder[:2] in _of_parent:",
        "cache/test_compile_lock.py",
    ),
    Fault("cache/compile_lock.py", "            self.waited = True\n", "", "cache/test_compile_lock.py"),
    Fault(
        "cache/image_cache.py",
        'return digest([salt(), "code", key])',
        'return digest(["code", key])',
        "cache/test_images_of_other_versions.py",
    ),
    Fault("cache/eviction.py", "if entry.used < oldest:", "if entry.used > oldest:", "cli/test_maintaining.py"),
    # compiler
    Fault(
        "compiler/channel.py", "        if not part:\n            raise EOFError\n", "", "compiler/test_worker_processes.py"
    ),
    Fault(
        "compiler/fallback.py",
        "if last.effort == efforts[0] and not last.was_compiler and len(failures) < ATTEMPTS:",
        "if last.effort == efforts[0] and len(failures) < ATTEMPTS:",
        "compiler/test_llvm_failures.py compiler/test_workers.py",
    ),
    # runtime
    Fault(
        "runtime/guards.py",
        "if kind in (Kind.OBJECT, Kind.MATRIX, Kind.STRUCT, Kind.STRUCTS):  # an object can change its class",
        "if False:",
        "runtime/test_objects_that_change_class.py",
    ),
    Fault(
        "runtime/guard_operands.py",
        "    if type(module) is not ModuleType or name not in module.__dict__:\n        raise Refused\n",
        "",
        "runtime/test_guards_of_another_nature.py",
    ),
    Fault(
        "runtime/guard_operands.py",
        '    if type(module) is not ModuleType or "__getattr__" in module.__dict__:\n        raise Refused\n',
        "",
        "runtime/test_guards_of_another_nature.py",
    ),
    Fault(
        "runtime/captured_names.py",
        "named = [path for path, excuse in captured.items() if not excuse]",
        "named: list[Path] = []",
        "cache/test_purity.py",
    ),
    Fault(
        "runtime/configuration.py",
        "            if word not in SWITCHES:\n",
        "            if False:\n",
        "api/test_words.py",
    ),
    Fault(
        "runtime/peer_options.py",
        "if text is None or ours in known:",
        "if text is None or name in given:",
        "compat/test_initializing.py",
    ),
    Fault(
        "runtime/profile_report.py",
        "self.busy += busy * 1e-9\n        self.longest = max(self.longest, longest * 1e-9)",
        "self.busy += busy * 1e-9\n        self.longest = longest * 1e-9",
        "runtime/test_profiler.py",
    ),
    Fault(
        "runtime/profile_report.py",
        "self.longest = max(self.longest, launches[2] * 1e-9)",
        "self.longest = launches[2] * 1e-9",
        "runtime/test_profiler.py",
    ),
    # compat
    Fault(
        "compat/initializing.py",
        "samovar.init(**{**_HABITS, **used, **given})",
        "samovar.init(**{**_HABITS, **given, **options_in(os.environ, peer.variables)})",
        "compat/test_initializing.py",
    ),
    # cli
    Fault("cli/quantities.py", '"m": 60, "h": 3600', '"m": 60, "h": 360', "cli/test_maintaining.py cli/test_listing.py"),
    Fault("cli/quantities.py", "while value >= 1024 and", "while value > 1024 and", "cli/test_listing.py"),
    # fingerprint
    Fault(
        "fingerprint/declared_fields.py",
        "found = {**_declaration(base), **found}",
        "found = {**found, **_declaration(base)}",
        "fingerprint/test_fields.py",
    ),
    Fault(
        "fingerprint/aggregation.py",
        "domain = DOMAIN_UNORDERED if isinstance(level, OrderInsensitiveDeconstruction) else DOMAIN_ORDERED",
        "domain = DOMAIN_ORDERED",
        "fingerprint/test_two_traversals.py fingerprint/test_golden.py",
    ),
    # _native
    Fault(
        "_native/guards/values.c",
        "return memcmp(&left, &right, sizeof left) == 0;",
        "return left == right;",
        "native/test_guard_programs.py native/test_guards.py",
    ),
    Fault(
        "_native/guards/deep_values.c",
        "return object == NULL && description == Py_None;",
        "return 1;",
        "native/test_contents.py",
    ),
    Fault(
        "_native/guards/loads.c",
        "        if (contained != 1)\n            return contained;\n",
        "",
        "native/test_guard_programs.py native/test_guards.py",
    ),
    Fault(
        "_native/guards/snapshot_names.c",
        "moved |= names->dicts[i].version != version;",
        "moved |= names->dicts[i].version == 0;",
        "runtime/test_names_that_change.py",
    ),
    Fault(
        "_native/replay/source_lines.c",
        "file->content != NULL && file->is_old_enough && is_version(",
        "file->content != NULL && is_version(",
        "lens/test_two_readings_of_lines.py",
    ),
    Fault(
        "_native/replay/replay.c",
        "is_own(owner) && PyDict_Contains(PyModule_GetDict(owner), at->key) == 0",
        "is_own(owner)",
        "lens/test_two_processes.py",
    ),
    Fault(
        "_native/replay/replay.c",
        "Py_IS_TYPE(object, &PyMethod_Type) || by_identity(sv_lens.known, object) != NULL",
        "by_identity(sv_lens.known, object) != NULL",
        "lens/test_two_replays.py",
    ),
    Fault(
        "_native/launch/recording.c",
        "call->prepared.specialization != NULL && call->epoch == call->kernel->epoch",
        "call->prepared.specialization != NULL",
        "runtime/test_recorded_launches.py",
    ),
    Fault(
        "_native/threads/back_off.h",
        "    if (excused > now)\n        return false;\n",
        "",
        "native/test_threads.py",
    ),
    Fault(
        "_native/threads/back_off.h",
        "state->woken, memory_order_relaxed) > SV_SETTLING",
        "state->woken, memory_order_relaxed) > 0",
        "native/test_threads.py",
    ),
    Fault(
        "_native/profile/profile.c",
        "to->longest = run->nanoseconds > to->longest ? run->nanoseconds : to->longest;",
        "to->longest = run->nanoseconds;",
        "runtime/test_profiler.py",
    ),
    Fault("_native/profile/profile.c", "to->busy += run->busy;", "to->busy = run->busy;", "runtime/test_profiler.py"),
    Fault(
        "_native/guards/overlap.c",
        "if (strides[i] <= covered)",
        "if (strides[i] < covered)",
        "native/test_guards.py",
    ),
    # sparse fields in files, lines in the viewer, publications
    Fault(
        "state/sparse_fields.py",
        "        deactivate_all(self.cells)\n",
        "",
        "state/test_saving_sparse_fields.py",
    ),
    Fault("backends/llvm/source_lines.py", '" ;@" in each or ', "", "backends/test_source_lines.py"),
    Fault(
        "tiers/publishing.py",
        "return size > USUAL_SEGMENT_BYTES // 2 and int(row.leaf[:8], 16) % 16 == 0",
        "return False",
        "tiers/test_reading_and_publishing.py",
    ),
]


def copied(directory: Path) -> None:
    """What tests need of the repository."""
    left_out = shutil.ignore_patterns("__pycache__", ".*", "build", "out", "*.egg-info")
    shutil.copytree(ROOT, directory, ignore=left_out, dirs_exist_ok=True)


def build(directory: Path) -> None:
    """The extension, beside its sources."""
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def first_failure(directory: Path, tests: str) -> str:
    """The test that fails first; "" if all of them pass."""
    paths = [f"tests/{path}" for path in tests.split()]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *paths]
    environment = {**os.environ, "PYTHONPATH": str(directory / "src"), "SAMOVAR_TEST_PROFILE": "quick"}
    try:
        done = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{tests} does not end"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].split(" - ")[0].split(maxsplit=1)[1] if lines else f"{tests} ends with {done.returncode}"


def judged(fault: Fault, directory: Path) -> tuple[bool, str]:
    """Whether a fault is seen, and by which test, or why it is not."""
    path = directory / "src" / "samovar" / fault.file
    if not path.exists():
        return False, "the file is gone: the fault has lost its place"
    text = path.read_text()
    if text.count(fault.before) != 1:
        return False, f"the text is there {text.count(fault.before)} times: the fault has lost its place"
    path.write_text(text.replace(fault.before, fault.after))
    is_native = path.suffix == ".c"
    try:
        if is_native:
            build(directory)
        failure = first_failure(directory, fault.tests)
    finally:
        path.write_text(text)
        if is_native:
            build(directory)
    return failure != "", failure or f"survives {fault.tests}"


def main(words: list[str]) -> int:
    chosen = [fault for fault in FAULTS if not words or any(word in fault.file or word in fault.tests for word in words)]
    missed = 0
    with tempfile.TemporaryDirectory(prefix="samovar-faults-") as name:
        directory = Path(name)
        copied(directory)
        build(directory)
        for fault in chosen:
            is_seen, what = judged(fault, directory)
            missed += not is_seen
            planted = " ".join(fault.after.split()) or "(nothing)"
            print(f"{'seen  ' if is_seen else 'MISSED'}  {fault.file}: {planted[:60]}\n        {what}", flush=True)
    print(f"{len(chosen)} faults, {missed} missed")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
