"""MiniLM vectors of the pool, in shards, by as many processes as there are cores.

A shard is written whole or not at all, so a run that was ended goes on where it was.
The model is the one that `tests/servers` starts, asked without HTTP in between.
"""

import itertools
import json
import multiprocessing
import os
import pathlib
import sys
import time

import numpy as np

SHARD = 1024
BATCH = 8
LONGEST_TOKENS = 64
DIMENSION = 384


def embed(pool, folder, count, processes, say):
    """Sees to it that the shards that hold the first `count` texts are there."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [at for at in range(-(-count // SHARD)) if not _shard(folder, at).exists()]
    if not missing:
        return
    say(f"{len(missing)} of {-(-count // SHARD)} shards of {SHARD} texts to embed")
    started = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(processes, _load, (str(pool), str(folder), count)) as workers:
        for done, _ in enumerate(workers.imap_unordered(_embed_shard, missing), 1):
            if done % 8 == 0 or done == len(missing):
                rate = done * SHARD / (time.monotonic() - started)
                say(f"{done * SHARD:,} of {len(missing) * SHARD:,} texts, {rate:.0f} texts/s")


def read(folder, start, stop):
    """Vectors of the texts `start..stop` of the pool."""
    parts = []
    for at in range(start // SHARD, -(-stop // SHARD)):
        shard = np.load(_shard(folder, at))
        parts.append(shard[max(0, start - at * SHARD) : stop - at * SHARD])
    return np.concatenate(parts)


def forget_incomplete(folder, length):
    """Removes the shard that ends with a pool of this length, before the pool grows."""
    if length % SHARD:
        _shard(folder, length // SHARD).unlink(missing_ok=True)


def _shard(folder, at):
    return folder / f"{at:06}.npy"


def _load(pool, folder, count):
    global _worker
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "servers"))
    import minilm

    encoder = minilm._Encoder()
    encoder.tokenizer.enable_truncation(LONGEST_TOKENS)
    with open(pool) as lines:
        # Whole shards, so that a larger run later has nothing to do again.
        texts = [json.loads(line)["text"] for line in itertools.islice(lines, -(-count // SHARD) * SHARD)]
    _worker = (encoder, texts, pathlib.Path(folder))


def _embed_shard(at):
    encoder, texts, folder = _worker
    mine = texts[at * SHARD : (at + 1) * SHARD]
    # Alike in length, so that little is padded.
    order = sorted(range(len(mine)), key=lambda index: len(mine[index]))
    vectors = np.zeros((len(mine), DIMENSION), np.float32)
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        vectors[batch] = encoder.encode([mine[index] for index in batch])[0]
    partial = folder / f"{at:06}.part{os.getpid()}.npy"
    np.save(partial, vectors)
    partial.rename(_shard(folder, at))
