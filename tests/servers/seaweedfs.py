"""SeaweedFS as a real S3 server: signatures are checked and data survive SIGKILL.

Its known habits, which tests must live with: conditional writes that contend for
one key wait in steps of a second (so give clients more than 30 s and measure
contention elsewhere), and a listing is ordered folder by folder, not by bytes.
"""

import json
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile

import s3_client
from lifetime import ServerFailed

START_SECONDS = 60
ATTEMPTS = 5


class SeaweedFs:
    def __init__(self, bucket, port, data):
        self.bucket = bucket
        self.port = port
        self.data = data
        self.work = None
        self.process = None

    def start(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="ostraca-seaweedfs-"))
        data = pathlib.Path(self.data) if self.data else self.work / "data"
        data.mkdir(parents=True, exist_ok=True)
        log = self.work / "log"
        # Ports are free when chosen, but another process may be faster.
        for _ in range(ATTEMPTS):
            port = self._spawn(data, log)
            url = f"http://127.0.0.1:{port}"
            try:
                s3_client.wait_until_it_stores(url, self.bucket, START_SECONDS, self._alive)
            except TimeoutError:
                taken = not self._alive() and "address already in use" in log.read_text(errors="replace")
                self._kill()
                if taken and not self.port:
                    continue
                break
            return s3_client.facts(url, self.bucket)
        raise ServerFailed(f"SeaweedFS did not start; the end of its log:\n{log.read_text(errors='replace')[-3000:]}")

    def stop(self):
        self._kill()
        if self.work:
            shutil.rmtree(self.work, ignore_errors=True)

    def _spawn(self, data, log):
        s3, master, volume, filer = _ports(self.port)
        config = self.work / "s3.json"
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": s3_client.ACCESS_KEY, "secretKey": s3_client.SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        config.write_text(json.dumps({"identities": [identity]}))
        command = [
            str(pathlib.Path(__file__).parent / "with-parent"),
            str(pathlib.Path(sys.executable).parent / "weed"), "-logtostderr=true", "server",
            f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
            f"-master.port={master}", f"-volume.port={volume}", "-filer", f"-filer.port={filer}",
            "-s3", f"-s3.port={s3}", f"-s3.config={config}",
            "-master.volumeSizeLimitMB=1024", "-volume.max=64", "-volume.preStopSeconds=0",
            # Else a restart on existing data takes 20 s.
            "-master.electionTimeout=1s",
            # Posts to an outside host unless told not to.
            "-master.telemetry=false",
            # Fixed ports, on which a second instance would die.
            "-s3.port.iceberg=0", "-s3.port.lance=0",
        ]  # fmt: skip
        with open(log, "wb") as sink:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, cwd=self.work)
        return s3

    def _alive(self):
        return self.process is not None and self.process.poll() is None

    def _kill(self):
        # Its orderly end takes 15 s, and what it acknowledged survives this one.
        if self._alive():
            self.process.kill()
            self.process.wait()


def _ports(s3):
    """Four ports whose twins 10,000 higher, where it puts gRPC, are free as well."""
    chosen = [s3] if s3 else []
    for _ in range(10_000):
        if len(chosen) == 4:
            return chosen
        port = random.randrange(20_000, 32_000)
        if port not in chosen and _free(port) and _free(port + 10_000):
            chosen.append(port)
    raise ServerFailed("no free ports between 20000 and 42000")


def _free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
