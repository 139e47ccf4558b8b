"""The error for a name that a module of ours does not have: loaded when one is missing."""


class MissingName(AttributeError):
    """A name that is not there. Its text, with the name that was probably meant, is made when somebody reads it: most of
    these are seen by nobody, as `from samovar import errors` asks for an attribute before it imports a module."""

    def __init__(self, module: str, name: str, names: list[str]) -> None:
        # Without the module as `obj`, of which the interpreter would make the same suggestion once more.
        super().__init__(module, name=name, obj=None)
        self._missing, self._names = name, names

    def __str__(self) -> str:
        from samovar.errors import did_you_mean
        from samovar.language import ELSEWHERE

        hint = did_you_mean(self._missing, self._names)
        elsewhere = ELSEWHERE.get(f"{self.args[0]}.{self._missing}".removeprefix("samovar."))
        if elsewhere is not None:
            hint = f": {elsewhere}"
        return f"module {self.args[0]!r} has no attribute {self._missing!r}{hint}"


# As which it is shown.
MissingName.__module__, MissingName.__name__, MissingName.__qualname__ = "builtins", "AttributeError", "AttributeError"
