"""Makes the corpus: texts, their vectors, queries and exact answers, in the cache folder.

    corpus.py --count 100000

Everything is made once, and a larger corpus has a smaller one as its beginning. Files, in
`$OSTRACA_CACHE/bench-data`, for a count written as 20k, 100k, 1000k:

    texts-100k.jsonl            {"id", "text", "scope", "permille"}
    texts-100k-minilm.npy       float32, unit length, 384 columns, in the order of the texts
    updates-100k.jsonl          new versions of one text in ten, and …-minilm.npy
    deletes-100k.json           identifiers of another tenth
    queries.jsonl               {"id", "text"}, and queries-minilm.npy
    gt-100k.npy                 rows of the 100 nearest texts to each query, and …-after.npy
"""

import argparse
import hashlib
import itertools
import json
import os
import pathlib
import shutil
import sys

import numpy as np

import texts
import truth
import vectors

CACHE = pathlib.Path(os.environ.get("OSTRACA_CACHE", pathlib.Path.home() / ".cache/ostraca"))
DATA = CACHE / "bench-data"
TENTH = 10
UPDATED, DELETED = 3, 7


def say(line):
    print(f"corpus: {line}", file=sys.stderr, flush=True)


def make(count, processes):
    DATA.mkdir(parents=True, exist_ok=True)
    pool, shards = DATA / "pool.jsonl", DATA / "shards"
    needed = texts.QUERIES + count + count // TENTH
    for kind in texts.KINDS:
        if _length(pool) < needed:
            grow(pool, shards, kind)
    have = _length(pool)
    if have < needed:
        raise SystemExit(f"this machine has {have:,} distinct texts; --count {count} needs {needed:,}")
    vectors.embed(pool, shards, needed, processes, say)
    publish(count)


def grow(pool, shards, kind):
    """Appends the texts of a kind to the pool, once: what was there keeps its place."""
    marker = DATA / f"pool-has-{kind}"
    if marker.exists():
        return
    partial = DATA / f"pool.part{os.getpid()}"
    say(f"{texts.build(partial, kind, say):,} distinct {kind}")
    vectors.forget_incomplete(shards, _length(pool))
    with open(pool, "ab") as out, open(partial, "rb") as more:
        shutil.copyfileobj(more, out)
    partial.unlink()
    marker.touch()


def publish(count):
    """Cuts the files of one count out of the pool and the shards."""
    name = f"{count // 1000}k"
    if (DATA / f"gt-{name}-after.npy").exists():
        return
    pool, shards = DATA / "pool.jsonl", DATA / "shards"
    first, last = texts.QUERIES, texts.QUERIES + count
    with open(pool) as lines:
        rows = [json.loads(line) for line in itertools.islice(lines, last + count // TENTH)]
    queries = [
        {"id": f"q{at:04}", "text": texts.as_query(row["text"], at)} for at, row in enumerate(rows[:first])
    ]
    corpus = [record(at, row) for at, row in enumerate(rows[first:last])]
    updated = range(UPDATED, count, TENTH)
    updates = [{**corpus[at], "text": row["text"]} for at, row in zip(updated, rows[last:])]
    _lines(DATA / "queries.jsonl", queries)
    _lines(DATA / f"texts-{name}.jsonl", corpus)
    _lines(DATA / f"updates-{name}.jsonl", updates)
    deletes = range(DELETED, count, TENTH)
    _whole(DATA / f"deletes-{name}.json", json.dumps([corpus[at]["id"] for at in deletes]).encode())
    _save(DATA / "queries-minilm.npy", query_vectors(queries))
    stored = vectors.read(shards, first, last)
    _save(DATA / f"texts-{name}-minilm.npy", stored)
    _save(DATA / f"updates-{name}-minilm.npy", vectors.read(shards, last, last + count // TENTH))
    say(f"{count:,} texts with vectors are there; now the exact answers")
    asked = np.load(DATA / "queries-minilm.npy")
    _save(DATA / f"gt-{name}.npy", truth.nearest(asked, stored, truth.DEPTH))
    stored[list(updated)] = np.load(DATA / f"updates-{name}-minilm.npy")
    alive = np.ones(count, bool)
    alive[list(deletes)] = False
    _save(DATA / f"gt-{name}-after.npy", truth.nearest(asked, stored, truth.DEPTH, alive))
    say(f"{name}: done, in {DATA}")


def record(at, row):
    """A text as it is stored. `permille` is for filters that let a known share through."""
    place = hashlib.blake2b(row["text"].encode(), digest_size=8, key=b"permille").digest()
    return {
        "id": f"t{at:07}",
        "text": row["text"],
        "scope": row["scope"],
        "permille": int.from_bytes(place, "big") % 1000,
    }


def query_vectors(queries):
    """Queries are texts of their own, so they have vectors of their own."""
    path = DATA / "queries-minilm.npy"
    if path.exists():
        return np.load(path)
    pool = DATA / "queries.jsonl"
    folder = DATA / "query-shards"
    vectors.embed(pool, folder, len(queries), 1, say)
    return vectors.read(folder, 0, len(queries))


def _length(path):
    if not path.exists():
        return 0
    with open(path, "rb") as lines:
        return sum(1 for _ in lines)


def _lines(path, values):
    _whole(path, "".join(json.dumps(value) + "\n" for value in values).encode())


def _whole(path, content):
    partial = path.with_name(f"{path.name}.part{os.getpid()}")
    partial.write_bytes(content)
    partial.rename(path)


def _save(path, array):
    partial = path.with_name(f"part{os.getpid()}-{path.name}")
    np.save(partial, array)
    partial.rename(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="texts in the corpus; a multiple of 1,000")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    if asked.count < 1000 or asked.count % 1000:
        parser.error("--count is a positive multiple of 1,000")
    make(asked.count, asked.processes)


if __name__ == "__main__":
    main()
