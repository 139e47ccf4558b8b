"""The compiler's only eye on the user's world: references, questions, answers, recording, replay.

The frontend records through it, the cache looks up with it, the runtime makes guards of what it recorded. It knows nothing
of the IR. The names are loaded when they are used: a process that compiles nothing replays, and needs little of this.
"""

from __future__ import annotations

from samovar import _door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.lens.answers import EnumValue, Kind, essence, same_answer, same_objects, shown
    from samovar.lens.compound import has_stable_members
    from samovar.lens.contents import callee, identity
    from samovar.lens.enum_members import member_at
    from samovar.lens.functions import QUESTIONS_ABOUT_FUNCTIONS, cell_of
    from samovar.lens.lens import Lens, OptionsView
    from samovar.lens.lines import file_lines, named_lines
    from samovar.lens.nesting import room_for_nesting, with_large_stack
    from samovar.lens.path import Path, compared_paths, paths_in
    from samovar.lens.portable import PathTable, digest, dtype_named
    from samovar.lens.questions import has_method, kind, scalar_type, shape, tensor, type_name
    from samovar.lens.recognition import code_answer
    from samovar.lens.recollection import Recollection
    from samovar.lens.reference import FunctionParameter, FunctionRef, Ref
    from samovar.lens.replaying import Replay, replay
    from samovar.lens.source import function_source
    from samovar.lens.tensor_facts import EXACT_EXTENT_QUESTIONS, EXTENT_QUESTIONS, RememberedArray, TensorFacts
    from samovar.lens.text_without_file import carry_text, remember_texts
    from samovar.lens.trace import Asked, Mismatch, Opaque, Trace
    from samovar.lens.tree import MOST_LEAVES, Leaf, Miss, Tree
else:
    __getattr__, __dir__ = _door(
        globals(),
        {
            "answers": "EnumValue Kind essence same_answer same_objects shown",
            "compound": "has_stable_members",
            "contents": "callee identity",
            "enum_members": "member_at",
            "functions": "QUESTIONS_ABOUT_FUNCTIONS cell_of",
            "lens": "Lens OptionsView",
            "lines": "file_lines named_lines",
            "nesting": "room_for_nesting with_large_stack",
            "path": "Path compared_paths paths_in",
            "portable": "PathTable digest dtype_named",
            "questions": "has_method kind scalar_type shape tensor type_name",
            "recognition": "code_answer",
            "recollection": "Recollection",
            "reference": "FunctionParameter FunctionRef Ref",
            "replaying": "Replay replay",
            "source": "function_source",
            "tensor_facts": "EXACT_EXTENT_QUESTIONS EXTENT_QUESTIONS RememberedArray TensorFacts",
            "text_without_file": "carry_text remember_texts",
            "trace": "Asked Mismatch Opaque Trace",
            "tree": "Leaf MOST_LEAVES Miss Tree",
        },
    )
