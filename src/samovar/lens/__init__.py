"""The lens: the compiler's only view of user objects. It records every fact that a compile depends on.

The frontend asks *questions* about objects through references; each question and its *answer* go to the *trace*. In the
field's terms, answers are recorded facts, the trace is a verifying trace (as in build systems) and serves as the cache key,
and the runtime derives guards from it. A cache lookup *replays* the trace: it asks the same questions about the objects at
hand and compares the answers. The package knows nothing of the IR. Names are imported lazily: a process that only replays
needs few of these modules.
"""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.lens.answers import EnumValue, Kind, essence, same_answer, same_objects, shown
    from samovar.lens.compound import has_stable_members, is_compound_class
    from samovar.lens.decision_tree import MOST_LEAVES, Leaf, Miss, Tree
    from samovar.lens.deep_values import callee, identity
    from samovar.lens.enum_members import member_at
    from samovar.lens.lens import Lens, OptionsView
    from samovar.lens.lines import file_lines, named_lines
    from samovar.lens.nesting import raised_recursion_limit, with_large_stack
    from samovar.lens.path import Path, compared_paths, paths_in
    from samovar.lens.question_tables import QUESTIONS_ABOUT_FUNCTIONS, cell_of
    from samovar.lens.questions import has_method, kind, scalar_type, shape, tensor, type_name
    from samovar.lens.recalled_object import StandInLens
    from samovar.lens.recognition import code_answer
    from samovar.lens.reference import FunctionParameter, FunctionRef, Ref
    from samovar.lens.replaying import Replay, replay
    from samovar.lens.serialized import PathTable, digest, dtype_named
    from samovar.lens.source import function_source
    from samovar.lens.tensor_facts import EXACT_EXTENT_QUESTIONS, EXTENT_QUESTIONS, RememberedArray, TensorFacts
    from samovar.lens.text_without_file import carry_text, remember_texts
    from samovar.lens.trace import Asked, Mismatch, Opaque, Trace
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "answers": "EnumValue Kind essence same_answer same_objects shown",
            "compound": "has_stable_members is_compound_class",
            "deep_values": "callee identity",
            "enum_members": "member_at",
            "question_tables": "QUESTIONS_ABOUT_FUNCTIONS cell_of",
            "lens": "Lens OptionsView",
            "lines": "file_lines named_lines",
            "nesting": "raised_recursion_limit with_large_stack",
            "path": "Path compared_paths paths_in",
            "serialized": "PathTable digest dtype_named",
            "questions": "has_method kind scalar_type shape tensor type_name",
            "recognition": "code_answer",
            "recalled_object": "StandInLens",
            "reference": "FunctionParameter FunctionRef Ref",
            "replaying": "Replay replay",
            "source": "function_source",
            "tensor_facts": "EXACT_EXTENT_QUESTIONS EXTENT_QUESTIONS RememberedArray TensorFacts",
            "text_without_file": "carry_text remember_texts",
            "trace": "Asked Mismatch Opaque Trace",
            "decision_tree": "Leaf MOST_LEAVES Miss Tree",
        },
    )
