"""Who works on a run (RS-011)."""

import os
import secrets
import socket

import attrs


@attrs.frozen
class OwnerId:
    """An identity, not a lock and not a generation: equal iff all three fields are equal (RS-004, RS-011).

    ``host_id`` and ``nonce`` are durable text (RS-301), ``pid`` is 0..2**53-1 (RS-306). Construction checks nothing;
    every operation admits the owner it is given.
    """

    host_id: str
    pid: int
    nonce: str

    @classmethod
    def here(cls, *, host_id: str | None = None, pid: int | None = None, nonce: str | None = None) -> "OwnerId":
        """This process on this host, as a new incarnation: whatever is not given is the real thing.

        A fresh ``nonce`` makes the identity unlike every earlier one of the same process.
        """
        return cls(
            host_id=socket.gethostname() if host_id is None else host_id,
            pid=os.getpid() if pid is None else pid,
            nonce=secrets.token_hex(16) if nonce is None else nonce,
        )
