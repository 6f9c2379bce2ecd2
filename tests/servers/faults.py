"""What embedding endpoints get wrong: each fault replaces the answer or changes it."""

import dataclasses
import socket
import time
from collections.abc import Callable

import numpy as np

SLOW_SECONDS = 20


@dataclasses.dataclass(frozen=True)
class Fault:
    """`instead` answers by itself; `change` edits the true answer before it is written."""

    instead: Callable | None = None
    change: Callable | None = None


def _error(status, kind, headers=()):
    body = b'{"error": {"message": "asked for by the test", "type": "%s"}}' % kind.encode()
    return Fault(instead=lambda handler: handler.answer(status, body, headers))


def _slow(handler):
    time.sleep(SLOW_SECONDS)
    handler.answer(200, b"{}")


def _hang_up(handler):
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def _first(value):
    def change(answer):
        vector = np.array(answer["data"][0]["embedding"])
        vector[0] = value
        answer["data"][0]["embedding"] = vector

    return change


def _dimension(answer):
    for row in answer["data"]:
        row["embedding"] = row["embedding"][:-1]


FAULTS = {
    # The whole answer.
    "slow": Fault(instead=_slow),
    "rate-limit": _error(429, "rate_limit_error", [("retry-after", "1")]),
    "rate-limit-long": _error(429, "rate_limit_error", [("retry-after", "3600")]),
    "overloaded": _error(503, "server_error", [("retry-after", "0")]),
    "error": _error(500, "server_error"),
    "unauthorized": _error(401, "invalid_request_error"),
    "malformed": Fault(instead=lambda handler: handler.answer(200, b'{"data": [{"embed')),
    "empty": Fault(instead=lambda handler: handler.answer(200, b"")),
    "hang-up": Fault(instead=_hang_up),
    # One thing in a true answer.
    "nan": Fault(change=_first(np.nan)),
    "infinite": Fault(change=_first(np.inf)),
    "dimension": Fault(change=_dimension),
    "missing": Fault(change=lambda answer: answer["data"].pop()),
    # Allowed: the index says which text a vector belongs to.
    "shuffled": Fault(change=lambda answer: answer["data"].reverse()),
}
