"""Command line of the test servers: which one, on which port, with which data."""

import argparse

from lifetime import serve_until_closed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind in ("seaweedfs", "moto"):
        s3 = kinds.add_parser(kind)
        s3.add_argument("--bucket", default="ostraca", help="created before the ready line")
        s3.add_argument("--port", type=int, default=0, help="0 takes a free one")
        if kind == "seaweedfs":
            s3.add_argument("--data", help="folder that outlives the server; default: a temporary one")
    minilm = kinds.add_parser("minilm")
    minilm.add_argument("--key", help="demand this bearer key")
    minilm.add_argument("--port", type=int, default=0)
    asked = parser.parse_args()

    # Each server has heavy imports of its own.
    if asked.kind == "seaweedfs":
        from seaweedfs import SeaweedFs

        server = SeaweedFs(asked.bucket, asked.port, asked.data)
    elif asked.kind == "moto":
        from moto_serial import MotoSerial

        server = MotoSerial(asked.bucket, asked.port)
    else:
        from minilm import MiniLm

        server = MiniLm(asked.key, asked.port)
    serve_until_closed(server)


main()
