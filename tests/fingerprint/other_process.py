"""Reads pickled objects from standard input and writes the fingerprint of each; the name of a specimen stands
for the specimen.
"""

import pickle
import sys

import fingerprint_specimens

from samovar.fingerprint import stable_fingerprinter


def main() -> None:
    while True:
        try:
            value = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if isinstance(value, tuple) and len(value) == 2 and value[0] == "specimen":
            value = fingerprint_specimens.SPECIMENS[value[1]]()
        print(stable_fingerprinter(value), flush=True)


main()
