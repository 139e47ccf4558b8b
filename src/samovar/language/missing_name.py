"""The error for a name that a module of ours does not have; loaded on first use."""


class MissingName(AttributeError):
    """An unknown name. Its text, with a suggestion, is made when it is read: most of these errors are never shown, as
    `from samovar import errors` looks for an attribute before it imports a module."""

    def __init__(self, module: str, name: str, names: list[str]) -> None:
        # Without the module as `obj`, for which the interpreter would add the same suggestion again.
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


# The name that tracebacks show.
MissingName.__module__, MissingName.__name__, MissingName.__qualname__ = "builtins", "AttributeError", "AttributeError"
