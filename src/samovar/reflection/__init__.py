"""Inspects objects and classes without running their code."""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.reflection.classes import (
        ABSENT,
        BuiltinFunctionType,
        FunctionType,
        GenericAlias,
        MethodDescriptorType,
        MethodType,
        MethodWrapperType,
        ModuleType,
        WrapperDescriptorType,
        bases,
        class_name,
        comes_from_class,
        dataclass_fields,
        derives,
        direct_bases,
        is_class,
        module_of,
        namespace,
        own,
        qualified_name,
        unqualified_name,
    )
    from samovar.reflection.instances import (
        counted_positions,
        has_dictionary,
        has_hidden_state,
        instance_state,
        read_as,
        read_state,
        slots_below,
    )
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "classes": "ABSENT BuiltinFunctionType FunctionType GenericAlias MethodDescriptorType MethodType"
            " MethodWrapperType ModuleType WrapperDescriptorType bases class_name"
            " comes_from_class dataclass_fields derives direct_bases is_class module_of"
            " namespace own qualified_name unqualified_name",
            "instances": "counted_positions has_dictionary has_hidden_state instance_state read_as read_state slots_below",
        },
    )
