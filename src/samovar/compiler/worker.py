"""A compile worker: a plain process that turns LLVM text into objects, over its standard input and output.

A message is its length (four bytes) and that many bytes: in, JSON with target and text; out, one byte that says how it went
("+" or "-") and the object or the reason. The end of the input ends the worker, so it never outlives its parent.
"""

from __future__ import annotations

import json
import os
import signal
import struct
from typing import BinaryIO

_LENGTH = struct.Struct("<I")


def send(stream: BinaryIO, message: bytes) -> None:
    """Write one message."""
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()


def receive(stream: BinaryIO) -> bytes:
    """Read one message; EOFError at the end of the stream."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, length)


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if data is None or len(data) != count:
        raise EOFError
    return data


def serve() -> None:
    """Answer jobs until the input ends."""
    # An interrupt from the keyboard is the parent's to handle. What LLVM prints must not get into the answers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    jobs = os.fdopen(os.dup(0), "rb")

    from samovar.backends.llvm.optimise import optimise
    from samovar.backends.llvm.target import Target

    while True:
        try:
            job = json.loads(receive(jobs))
        except EOFError:
            return
        try:
            answer = b"+" + optimise(job["text"], Target(**job["target"]))
        except Exception as error:
            answer = b"-" + f"{type(error).__name__}: {error}".encode()
        send(answers, answer)
