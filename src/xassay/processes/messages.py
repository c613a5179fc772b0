"""Pickled messages over the pipes between a process and its workers."""

import struct
from typing import IO

_LENGTH = struct.Struct("!Q")


def send(pipe: IO[bytes], content: bytes) -> None:
    """Write one message.

    Raises:
        OSError: nobody reads any more.
    """
    pipe.write(_LENGTH.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """Read one message; None where the other side has ended, be it in the middle of one."""
    head = _whole(pipe, _LENGTH.size)
    return None if head is None else _whole(pipe, _LENGTH.unpack(head)[0])


def _whole(pipe: IO[bytes], n: int) -> bytes | None:
    parts: list[bytes] = []
    while n:
        part = pipe.read(n)
        if not part:
            return None
        parts.append(part)
        n -= len(part)
    return b"".join(parts)
