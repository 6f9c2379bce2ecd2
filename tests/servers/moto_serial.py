"""moto as a second S3 implementation, with byte-ordered listings and full key semantics.

As shipped it checks a precondition and writes in two steps, and loses updates under
concurrency; one lock around the application makes the two steps one. It verifies no
signatures and keeps everything in memory.
"""

import threading

import s3_client
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server


class MotoSerial:
    def __init__(self, bucket, port):
        self.bucket = bucket
        self.port = port
        self.server = None

    def start(self):
        self.server = make_server(
            "127.0.0.1", self.port, _OneAtATime(DomainDispatcherApplication(create_backend_app)),
            threaded=True, request_handler=_Quiet,
        )  # fmt: skip
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{self.server.server_port}"
        s3_client.wait_until_it_stores(url, self.bucket, 30, lambda: True)
        return s3_client.facts(url, self.bucket)

    def stop(self):
        if self.server:
            self.server.shutdown()


class _OneAtATime:
    def __init__(self, application):
        self.application = application
        self.turn = threading.Lock()

    def __call__(self, environ, start_response):
        with self.turn:
            return list(self.application(environ, start_response))


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    # A small answer behind its headers would wait for a delayed acknowledgement.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def log(self, *_):
        pass
