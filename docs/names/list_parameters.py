"""Lists the parameters of the public functions of Quadrants, for `tests/api/test_parameter_names.py`. Run it where
Quadrants is installed:

    python docs/names/list_parameters.py > docs/names/parameters.txt

A line is the path of a function and the names by which its arguments can be given.
"""

import inspect

from list_names import names_of_module, place

MODULES = ("", "algorithms", "math", "tools", "types")
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def main() -> None:
    """Write a line for each function that has such names."""
    for path in MODULES:
        for name in names_of_module(path):
            written = f"{path}.{name}".lstrip(".")
            value = place(written)
            if isinstance(value, type) or not callable(value):
                continue
            try:
                parameters = inspect.signature(value).parameters.values()
            except ValueError:  # written in C, without a signature
                continue
            names = [each.name for each in parameters if each.kind in BY_NAME and not each.name.startswith("_")]
            if names:
                print(written, *names)


if __name__ == "__main__":
    main()
