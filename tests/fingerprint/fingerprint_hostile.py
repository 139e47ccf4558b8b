"""Classes that defend themselves against being looked at. In a module of their own: pytest looks at everything
in a test module.
"""


class Recursing(type):
    def __getattr__(cls, name):
        return getattr(cls, name + "_")


class Raising(type):
    def __getattribute__(cls, name):
        raise RuntimeError(f"somebody looked at {name}")

    def __eq__(cls, other):
        raise RuntimeError("somebody compared")

    def __hash__(cls):
        raise RuntimeError("somebody hashed")

    def __instancecheck__(cls, instance):
        raise RuntimeError("somebody checked")

    __subclasscheck__ = __instancecheck__


class Hidden(metaclass=Raising):
    def __init__(self, value):
        object.__setattr__(self, "value", value)

    def __getattribute__(self, name):
        raise RuntimeError(f"somebody asked for {name}")

    @property
    def __class__(self):
        raise RuntimeError("somebody asked for the class")


class Endless(metaclass=Recursing):
    def __init__(self, value):
        self.value = value


class EndlessDict(dict, metaclass=Recursing):
    def __init__(self, value):
        super().__init__(value=value)
