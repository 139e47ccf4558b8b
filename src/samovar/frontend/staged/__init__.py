"""The kinds of values that a name or an expression can have while a function is staged: one class each.

`base` has the protocol, and the default of each operation: an error. A new kind is one more file here.
"""
