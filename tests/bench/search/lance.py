"""LanceDB as a contender: IVF_PQ, full-text and scalar indexes, as its documentation advises.

It says what it is, then answers one line of JSON for each that it reads; README.md has
the contract.
"""

import argparse
import datetime
import itertools
import json
import os
import pathlib
import sys
import time

# It says at each query that what `select` gives will change.
os.environ.setdefault("LANCEDB_LOG", "error")

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import BTree, Bitmap, FTS, IvfPq
from lancedb.rerankers import RRFReranker

DIMENSION = 384
BATCH = 4096
COLUMNS = ["id", "text", "scope", "permille", "vector"]

# Codes of one bit for each dimension, twice what it takes by itself: with these, ranking forty
# rows again reaches the recall that takes 160 rows and more than twice the requests without.
SUB_VECTORS = DIMENSION // 8

# From little to much effort: partitions probed, and how many times the wanted hits are
# ranked again by their full vectors.
SETTINGS = [
    {"nprobes": nprobes, "refine": refine} for nprobes in (2, 4, 8, 16, 32, 64) for refine in (2, 3, 4, 6, 8, 16)
]


class Lance:
    def __init__(self, place):
        self.place = place
        self.name = f"{place.count // 1000}k"
        self.data = pathlib.Path(place.data)
        self.opened = None

    def table(self, consistency):
        """Opened at the first use, so that a cold query pays for it."""
        if self.opened is None:
            self.opened = self.connect().open_table("memories")
        elif consistency == "strong":
            # Cheaper than a read_consistency_interval of zero, which looks five times in a query.
            self.opened.checkout_latest()
        return self.opened

    def connect(self):
        options = {
            "aws_access_key_id": "test",
            "aws_secret_access_key": "testsecret",
            "aws_endpoint": self.place.endpoint,
            "aws_region": "us-east-1",
            "allow_http": "true",
            "aws_virtual_hosted_style_request": "false",
        }
        return lancedb.connect(f"s3://{self.place.bucket}/lance", storage_options=options)

    def build(self, _):
        clock = Clock()
        schema = _schema()
        batches = _batches(self.data / f"texts-{self.name}.jsonl", self.data / f"texts-{self.name}-minilm.npy")
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        table = self.connect().create_table("memories", reader, schema=schema, mode="overwrite")
        clock.lap("load")
        table.create_index("vector", config=IvfPq(distance_type="cosine", num_sub_vectors=SUB_VECTORS))
        clock.lap("vector")
        table.create_index("text", config=FTS())
        clock.lap("keyword")
        table.create_index("id", config=BTree())
        table.create_index("scope", config=Bitmap())
        table.create_index("permille", config=BTree())
        clock.lap("filter")
        return {"ms": clock.laps, "rows": table.count_rows()}

    def query(self, asked):
        table = self.table(asked["consistency"])
        if asked["mode"] == "vector":
            found = table.search(np.asarray(asked["vector"], np.float32))
        elif asked["mode"] == "keyword":
            found = table.search(asked["text"], query_type="fts")
        else:
            found = table.search(query_type="hybrid").vector(np.asarray(asked["vector"], np.float32))
            found = found.text(asked["text"]).rerank(RRFReranker())
        if asked["mode"] != "keyword":
            setting = SETTINGS[asked["setting"]]
            found = found.distance_type("cosine").nprobes(setting["nprobes"]).refine_factor(setting["refine"])
        if condition := _condition(asked.get("filter")):
            found = found.where(condition)
        rows = found.select(["id", "text"]).limit(asked["limit"]).to_arrow()
        return {"hits": [{"id": row["id"], "text": row["text"]} for row in rows.select(["id", "text"]).to_pylist()]}

    def change(self, _):
        table = self.table("strong")
        clock = Clock()
        batches = _batches(self.data / f"updates-{self.name}.jsonl", self.data / f"updates-{self.name}-minilm.npy")
        table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(
            pa.Table.from_batches(batches, schema=_schema())
        )
        clock.lap("update")
        gone = json.loads((self.data / f"deletes-{self.name}.json").read_text())
        for start in range(0, len(gone), 1000):
            names = ", ".join(f"'{name}'" for name in gone[start : start + 1000])
            table.delete(f"id IN ({names})")
        clock.lap("delete")
        return {"ms": clock.laps, "rows": table.count_rows()}

    def compact(self, _):
        table = self.table("strong")
        clock = Clock()
        table.optimize(cleanup_older_than=datetime.timedelta(0))
        clock.lap("optimize")
        return {"ms": clock.laps, "rows": table.count_rows()}


class Clock:
    def __init__(self):
        self.at = time.perf_counter()
        self.laps = {}

    def lap(self, name):
        now = time.perf_counter()
        self.laps[name] = (now - self.at) * 1e3
        self.at = now


def _condition(wanted):
    if not wanted:
        return None
    if "scope" in wanted:
        return f"scope = '{wanted['scope']}'"
    return f"permille < {wanted['permille_below']}"


def _schema():
    return pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("scope", pa.string()),
            ("permille", pa.int32()),
            ("vector", pa.list_(pa.float32(), DIMENSION)),
        ]
    )


def _batches(texts, vectors):
    vectors = np.load(vectors, mmap_mode="r")
    with open(texts) as lines:
        for start in range(0, len(vectors), BATCH):
            some = np.ascontiguousarray(vectors[start : start + BATCH])
            rows = [json.loads(line) for line in itertools.islice(lines, len(some))]
            columns = [pa.array([row[name] for row in rows], _schema().field(name).type) for name in COLUMNS[:-1]]
            columns.append(pa.FixedSizeListArray.from_arrays(pa.array(some.reshape(-1)), DIMENSION))
            yield pa.RecordBatch.from_arrays(columns, schema=_schema())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("endpoint", "bucket", "data"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--count", type=int, required=True)
    lance = Lance(parser.parse_args())
    ops = {"build": lance.build, "query": lance.query, "change": lance.change, "compact": lance.compact}
    answer({"name": "LanceDB", "version": lancedb.__version__, "settings": SETTINGS})
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer(ops[asked["op"]](asked))
        except Exception as error:  # Whatever it is, the harness has to hear of it.
            answer({"error": f"{type(error).__name__}: {error}"})


def answer(value):
    print(json.dumps(value), flush=True)


main()
