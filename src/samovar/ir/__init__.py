"""The typed IR between Python and a backend: values, operations, regions, tasks; its printer and its verifier.

Structured and small: a region is a list of operations, and control flow is an operation with regions inside it. Operations
are their own results (SSA); what a program assigns more than once lives in a `Local`. Nothing here knows Python objects
or LLVM.
"""

from __future__ import annotations

from samovar import _door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.ir.graph import Checkpoint, DoWhile, ReadFlag, Section, Sections
    from samovar.ir.layout import Layout, layout_of, part_offset
    from samovar.ir.opcodes import OPCODES
    from samovar.ir.plan import Borders, Lanes, Partial, PlainIndex, PlainLoop, Plan, PrivateCopy
    from samovar.ir.printer import print_arguments, print_kernel, print_task
    from samovar.ir.runtime_interface import (
        COST_UNKNOWN,
        ENTRY,
        FRAME_DESCRIPTION,
        FRAME_SLOT,
        FRAME_VALUES,
        MOST_DESCRIBED,
        RUNTIME,
        SECTIONS,
        SERIAL,
        SPEAKS,
        description,
    )
    from samovar.ir.schedule import (
        GROUPS_LOG2,
        Arithmetic,
        Units,
        blocks,
        group,
        group_for_copies,
        length,
        pitch,
        units,
        worth_copies,
    )
    from samovar.ir.structure import (
        Atomic,
        Axis,
        Captured,
        For,
        Function,
        If,
        Kernel,
        MatrixForm,
        ParallelFor,
        ReadAnyway,
        Reduction,
        Region,
        ResultForm,
        Scatter,
        StructForm,
        Task,
        Touch,
        While,
    )
    from samovar.ir.traversal import (
        bodies,
        callees,
        indices,
        memory,
        outlined,
        regions,
        retarget,
        rewrite,
        sections,
        serial,
        substitute,
        tasks,
        use_counts,
        used,
        users,
        variables,
        walk,
        walk_kernel,
        walk_regions,
    )
    from samovar.ir.updates import Update, update_of
    from samovar.ir.values import (
        Array,
        Constant,
        FieldLayout,
        Local,
        LocalArray,
        LoopVariable,
        Operation,
        Parameter,
        Spot,
        Value,
        columns_of,
    )
    from samovar.ir.verifier import verify
else:
    __getattr__, __dir__ = _door(
        globals(),
        {
            "graph": "Checkpoint DoWhile ReadFlag Section Sections",
            "layout": "Layout layout_of part_offset",
            "opcodes": "OPCODES",
            "plan": "Borders Lanes Partial PlainIndex PlainLoop Plan PrivateCopy",
            "printer": "print_arguments print_kernel print_task",
            "runtime_interface": (
                "COST_UNKNOWN ENTRY FRAME_DESCRIPTION FRAME_SLOT FRAME_VALUES MOST_DESCRIBED RUNTIME SECTIONS SERIAL SPEAKS "
                "description"
            ),
            "schedule": "GROUPS_LOG2 Arithmetic Units blocks group group_for_copies length pitch units worth_copies",
            "structure": (
                "Atomic Axis Captured For Function If Kernel MatrixForm ParallelFor ReadAnyway Reduction Region ResultForm "
                "Scatter StructForm Task Touch While"
            ),
            "traversal": (
                "bodies callees indices memory outlined regions retarget rewrite sections serial substitute tasks "
                "use_counts used users variables walk walk_kernel walk_regions"
            ),
            "updates": "Update update_of",
            "values": "Array Constant FieldLayout Local LocalArray LoopVariable Operation Parameter Spot Value columns_of",
            "verifier": "verify",
        },
    )
