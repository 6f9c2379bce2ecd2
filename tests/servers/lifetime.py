"""How long a test server lives: from its ready line until stdin closes or a signal.

A server has `start()`, which returns the facts of the ready line once the server
really answers, and `stop()`, which leaves nothing running. Stdin is watched because a
test process that is killed cannot send a signal, but its pipes close.
"""

import json
import os
import signal
import socket
import sys
import threading


class ServerFailed(Exception):
    """The server did not come up; the message says why."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve_until_closed(server):
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stopped.set())
    threading.Thread(target=_wait_for_end_of_stdin, args=(stopped,), daemon=True).start()
    try:
        facts = server.start()
        print(json.dumps({**facts, "pid": os.getpid()}), flush=True)
        stopped.wait()
    except ServerFailed as failure:
        sys.exit(f"tests/servers: {failure}")
    finally:
        server.stop()


def _wait_for_end_of_stdin(stopped):
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass
    stopped.set()
