"""The typed IR between Python and a backend: values, operations, regions, tasks; its printer and its verifier.

Structured and small: a region is a list of operations, and control flow is an operation with regions inside it. Operations
are their own results (SSA); what a program assigns more than once lives in a `Local`. Nothing here knows Python objects
or LLVM.
"""
