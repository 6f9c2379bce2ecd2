"""The S3 server of a run: in memory, counting, as slow as it is told.

Latency is the server's own and needs no proxy: what a request costs beside it is some
tens of microseconds on loopback, so steps and bytes are all that a client is charged for.
"""

import json
import subprocess
import urllib.parse
import urllib.request
import xml.etree.ElementTree as xml


class Storage:
    def __init__(self, binary):
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{binary} did not start")
        self.url = json.loads(line)["url"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def pace(self, first_byte_ms, bytes_per_second):
        names = ("get_ms", "put_ms", "list_ms", "delete_ms")
        asked = {name: first_byte_ms for name in names} | {"bytes_per_second": bytes_per_second}
        self._ask("POST", f"/__pace?{urllib.parse.urlencode(asked)}")

    def forget(self):
        self._ask("POST", "/__reset")

    def cost(self):
        """What was asked for since `forget`."""
        return cost(json.loads(self._ask("GET", "/__log"))["requests"])

    def requests(self):
        return json.loads(self._ask("GET", "/__log"))["requests"]

    def size(self, bucket):
        """Objects and bytes in a bucket."""
        objects, total, token = 0, 0, None
        while True:
            query = {"list-type": "2"} | ({"continuation-token": token} if token else {})
            root = xml.fromstring(self._ask("GET", f"/{bucket}?{urllib.parse.urlencode(query)}"))
            sizes = [int(size.text) for size in root.iter("Size")]
            objects, total = objects + len(sizes), total + sum(sizes)
            token = root.findtext("NextContinuationToken")
            if not token:
                return {"objects": objects, "bytes": total}

    def _ask(self, method, path):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, method=method), timeout=600) as answer:
            return answer.read()


def cost(requests):
    """Counts by kind, bytes, and dependent steps."""
    asked = [one for one in requests if one["kind"] != "OTHER"]
    kinds = [one["kind"] for one in asked]
    return {
        "steps": steps(asked),
        "requests": len(asked),
        "gets": kinds.count("GET") + kinds.count("HEAD"),
        "lists": kinds.count("LIST"),
        "puts": sum(kinds.count(kind) for kind in ("PUT", "PART", "UPLOAD")),
        "deletes": kinds.count("DELETE"),
        "bytes_read": sum(one["bytes_out"] for one in asked),
        "bytes_written": sum(one["bytes_in"] for one in asked),
    }


def steps(requests):
    """The longest chain of requests of which none began before the one before had ended."""
    count, free = 0, -1
    for one in sorted(requests, key=lambda one: one["end_us"]):
        if one["start_us"] >= free:
            count, free = count + 1, one["end_us"]
    return count
