"""Looking at objects and classes without running their code."""

from __future__ import annotations

from samovar._door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.reflection.classes import (
        ABSENT,
        bases,
        class_name,
        comes_from_class,
        dataclass_fields,
        derives,
        is_class,
        module_of,
        namespace,
        own,
    )
else:
    __getattr__, __dir__ = door(
        __name__,
        {
            "classes": "ABSENT bases class_name comes_from_class dataclass_fields derives is_class module_of namespace own",
        },
    )
