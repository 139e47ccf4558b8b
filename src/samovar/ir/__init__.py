"""The typed IR between Python and a backend: values, operations, regions, tasks; its printer and its verifier.

A small structured IR: a region is a list of operations, and control flow is an operation with regions inside. Operations
are their own results (SSA); a variable that is assigned more than once is a `Local`. The IR is independent of Python objects
and of LLVM.
"""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.ir.accesses import Accesses, Facts, contested, functions_touch, reached_from_tasks
    from samovar.ir.affine import Affine, AffineForm, Symbol, constant_integer
    from samovar.ir.builder import Builder
    from samovar.ir.cells import cell_numbers
    from samovar.ir.clone import Clone, computed_before, in_first_iteration
    from samovar.ir.cost import Estimator
    from samovar.ir.graph import Checkpoint, DoWhile, ReadFlag, Section, Sections
    from samovar.ir.layout import Layout, layout_of, part_offset
    from samovar.ir.machine import SCALAR, Machine
    from samovar.ir.opcodes import CELL_OPERATIONS, OPCODES
    from samovar.ir.printer import KernelHistory, print_arguments, print_kernel, print_task, print_with_lines
    from samovar.ir.ranges import FloatRange, Range, float_range, integer_range_of, signed
    from samovar.ir.runtime_interface import (
        COST_UNKNOWN,
        ENTRY,
        FRAME_SLOT,
        FRAME_VALUES,
        LANES,
        RUNTIME,
        SECTIONS,
        SERIAL,
        SPEAKS,
    )
    from samovar.ir.structure import (
        NO_HINTS,
        PLAIN_LOOP,
        Atomic,
        Axis,
        Captured,
        ComplexResult,
        For,
        Function,
        Hints,
        If,
        Kernel,
        MatrixResult,
        ParallelFor,
        Reduction,
        Region,
        ResultShape,
        Scatter,
        StructResult,
        Task,
        Touch,
        While,
    )
    from samovar.ir.traffic import bytes_per_iteration
    from samovar.ir.traversal import (
        array_of,
        bodies,
        callees,
        defined_in,
        fix_conditions,
        indices,
        inside,
        is_own,
        memory,
        named,
        operands_first,
        outlined,
        outside_loops,
        regions,
        retarget,
        rewrite,
        scopes,
        sections,
        serial,
        substitute,
        taken_by,
        tasks,
        use_counts,
        used,
        users,
        variables,
        walk,
        walk_kernel,
        walk_regions,
    )
    from samovar.ir.updates import FAMILIES, Update, identity, update_of
    from samovar.ir.values import (
        Array,
        Cells,
        Constant,
        FieldLayout,
        Local,
        LocalArray,
        LoopVariable,
        Operation,
        Parameter,
        ScratchArray,
        Spot,
        Value,
        VectorLocal,
        VectorOperation,
        columns_of,
        dtype_of,
    )
    from samovar.ir.verifier import verify
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "accesses": "Accesses Facts contested functions_touch reached_from_tasks",
            "affine": "Affine AffineForm Symbol constant_integer",
            "builder": "Builder",
            "cells": "cell_numbers",
            "clone": "Clone computed_before in_first_iteration",
            "cost": "Estimator",
            "graph": "Checkpoint DoWhile ReadFlag Section Sections",
            "layout": "Layout layout_of part_offset",
            "machine": "Machine SCALAR",
            "opcodes": "CELL_OPERATIONS OPCODES",
            "printer": "KernelHistory print_arguments print_kernel print_task print_with_lines",
            "ranges": "FloatRange Range float_range integer_range_of signed",
            "runtime_interface": "COST_UNKNOWN ENTRY FRAME_SLOT FRAME_VALUES LANES RUNTIME SECTIONS SERIAL SPEAKS",
            "structure": (
                "NO_HINTS PLAIN_LOOP Atomic Axis Captured ComplexResult For Function Hints If Kernel MatrixResult "
                "ParallelFor Reduction Region ResultShape Scatter StructResult Task Touch While"
            ),
            "traffic": "bytes_per_iteration",
            "traversal": (
                "array_of bodies callees defined_in fix_conditions indices inside is_own memory named operands_first "
                "outlined outside_loops regions retarget rewrite scopes sections serial substitute taken_by tasks "
                "use_counts used users variables walk walk_kernel walk_regions"
            ),
            "updates": "FAMILIES Update identity update_of",
            "values": (
                "Array Cells Constant FieldLayout Local LocalArray LoopVariable Operation Parameter ScratchArray Spot Value "
                "VectorLocal VectorOperation columns_of dtype_of"
            ),
            "verifier": "verify",
        },
    )
