"""What the figures rest on: the count of steps, the exact answers, the cutting of texts."""

import unittest

import numpy as np

import storage
import texts
import truth


def request(start, end, kind="GET", out=0):
    return {"kind": kind, "start_us": start, "end_us": end, "bytes_out": out, "bytes_in": 0}


class Steps(unittest.TestCase):
    def test_what_runs_together_is_one_step(self):
        self.assertEqual(storage.steps([request(0, 30), request(1, 31), request(2, 90)]), 1)

    def test_a_chain_counts_each_link(self):
        self.assertEqual(storage.steps([request(0, 30), request(30, 60), request(65, 95)]), 3)

    def test_a_long_request_beside_a_chain_hides_none_of_it(self):
        self.assertEqual(storage.steps([request(0, 100), request(0, 30), request(31, 61), request(62, 92)]), 3)

    def test_nothing_asked_is_no_step(self):
        self.assertEqual(storage.steps([]), 0)

    def test_what_concerns_no_object_costs_nothing(self):
        found = storage.cost([request(0, 1, "OTHER"), request(2, 3, "HEAD"), request(4, 5, "GET", 7), request(6, 7, "PART")])
        self.assertEqual((found["requests"], found["gets"], found["puts"], found["bytes_read"]), (3, 2, 1, 7))


class Truth(unittest.TestCase):
    def test_blocks_agree_with_one_sort(self):
        random = np.random.default_rng(1)
        stored = random.standard_normal((500, 8)).astype(np.float32)
        queries = random.standard_normal((9, 8)).astype(np.float32)
        alive = random.random(500) < 0.5
        scores = np.where(alive, queries @ stored.T, -np.inf)
        wanted = np.argsort(-scores, axis=1, kind="stable")[:, :20]
        whole, truth.BLOCK = truth.BLOCK, 64
        self.addCleanup(setattr, truth, "BLOCK", whole)
        np.testing.assert_array_equal(truth.nearest(queries, stored, 20, alive), wanted)

    def test_too_few_rows_are_filled_up(self):
        stored = np.eye(3, dtype=np.float32)
        found = truth.nearest(stored[:1], stored, 3, np.array([True, False, True]))
        self.assertEqual(found.tolist(), [[0, 2, -1]])


class Texts(unittest.TestCase):
    SHORT = "Hash maps grow when they are more than three quarters full."
    LONG = "A reader that arrives late sees the whole log and nothing else."

    def test_sentences_and_pairs(self):
        paragraph = f"{self.SHORT}\n   {self.LONG} Too short."
        self.assertEqual(list(texts.sentences(paragraph)), [self.SHORT, self.LONG])
        self.assertEqual(list(texts.pairs(paragraph))[0], f"{self.SHORT} {self.LONG}")

    def test_stretches_overlap_by_half(self):
        words = (self.SHORT + " " + self.LONG).split() * 2
        found = list(texts.stretches(" ".join(words)))
        self.assertEqual(found[:2], [" ".join(words[:24]), " ".join(words[12:36])])

    def test_what_is_not_prose_is_left_out(self):
        self.assertEqual(list(texts.sentences("0x00 0x01 0x02 0x03 0x04 0x05 0x06 0x07 0x08.")), [])

    def test_queries_have_three_to_eight_words_of_meaning(self):
        self.assertEqual(texts.as_query(self.SHORT, 0), "hash maps grow")
        self.assertEqual(texts.as_query(self.SHORT, 6), "hash maps grow")
        self.assertEqual(texts.as_query(self.LONG, 5), "reader arrives late sees whole log nothing else")


if __name__ == "__main__":
    unittest.main()
