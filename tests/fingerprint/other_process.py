"""Reads pickled objects from standard input and writes the fingerprint of each.

The name of a specimen stands for the specimen, and that of something local for the lenient fingerprint of it.
"""

import pickle
import sys

import fingerprint_local
import fingerprint_specimens

from samovar.fingerprint import lenient_fingerprinter, stable_fingerprinter


def main() -> None:
    while True:
        try:
            value = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if isinstance(value, tuple) and len(value) == 2 and value[0] == "specimen":
            value = fingerprint_specimens.SPECIMENS[value[1]]()
        if isinstance(value, tuple) and len(value) == 2 and value[0] == "local":
            print(lenient_fingerprinter(fingerprint_local.make()[value[1]]), flush=True)
        else:
            print(stable_fingerprinter(value), flush=True)


main()
