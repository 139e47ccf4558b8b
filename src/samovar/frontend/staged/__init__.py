"""The kinds of things that a name or an expression can stand for while a function is staged: one class each.

`base` has the protocol, and what happens to a kind that has no rule of its own: the error that says so. A new kind is one
more file here.
"""
