"""Exact answers by comparing every query with every vector: what recall is measured against."""

import numpy as np

DEPTH = 100
BLOCK = 50_000


def nearest(queries, stored, depth, alive=None):
    """Rows of the `depth` largest inner products of each query, largest first, as int32; -1 where
    fewer rows are alive. Rows that tie stand in their order."""
    scores = np.full((len(queries), 0), 0, np.float32)
    rows = np.full((len(queries), 0), 0, np.int32)
    for start in range(0, len(stored), BLOCK):
        block = queries @ stored[start : start + BLOCK].T
        if alive is not None:
            block[:, ~alive[start : start + BLOCK]] = -np.inf
        scores = np.concatenate([scores, block], axis=1)
        numbers = np.arange(start, start + block.shape[1], dtype=np.int32)
        rows = np.concatenate([rows, np.broadcast_to(numbers, block.shape)], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
        scores, rows = np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)
    rows[np.isneginf(scores)] = -1
    return rows
