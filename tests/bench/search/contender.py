"""A contender as the harness sees it: a process that answers lines of JSON.

README.md has the contract. Time is taken here, for every contender by the same clock,
and so is memory.
"""

import json
import subprocess
import time


class Refused(Exception):
    """The contender said that it cannot do what it was asked."""


class Contender:
    """One process, from its start to its end: what it remembers is what it has read itself."""

    def __init__(self, command, storage, bucket, data, count):
        place = ["--endpoint", storage.url, "--bucket", bucket, "--data", str(data), "--count", str(count)]
        self.storage = storage
        self.process = subprocess.Popen(command + place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = self._line()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, op, **details):
        """The answer, the milliseconds it took, and what it asked of storage."""
        self.storage.forget()
        line = json.dumps({"op": op, **details})
        started = time.perf_counter()
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self._line()
        elapsed = (time.perf_counter() - started) * 1e3
        if "error" in answer:
            raise Refused(answer["error"])
        return answer, {"ms": elapsed, **self.storage.cost()}

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) * 1024
        raise SystemExit("this system does not say how much memory a process has had")

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args[0]} ended with {self.process.wait()}")
        return json.loads(line)
