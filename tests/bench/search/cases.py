"""What is asked: queries, their filters, and the right answers."""

import json
import random

import numpy as np

import truth

LIMIT = 10
SMALLEST_SCOPE, LARGEST_SCOPE = 50, 2000
FILTERS = {"filtered 0.1 %": 1, "filtered 1 %": 10, "filtered 10 %": 100, "filtered 50 %": 500}


class Cases:
    """All queries of a run against one version of the corpus."""

    def __init__(self, data, count, changed):
        name = f"{count // 1000}k"
        self.queries = [json.loads(line) for line in open(data / "queries.jsonl")]
        self.vectors = np.load(data / "queries-minilm.npy")
        self.rows = [json.loads(line) for line in open(data / f"texts-{name}.jsonl")]
        self.stored = np.load(data / f"texts-{name}-minilm.npy")
        self.alive = np.ones(count, bool)
        self.nearest = np.load(data / f"gt-{name}{'-after' if changed else ''}.npy")
        if changed:
            updates = [json.loads(line) for line in open(data / f"updates-{name}.jsonl")]
            places = [place(row["id"]) for row in updates]
            self.stored[places] = np.load(data / f"updates-{name}-minilm.npy")
            for at, row in zip(places, updates):
                self.rows[at] = row
            self.alive[[place(one) for one in json.loads((data / f"deletes-{name}.json").read_text())]] = False
        self.permille = np.array([row["permille"] for row in self.rows])
        self.scope = np.array([row["scope"] for row in self.rows])
        names, sizes = np.unique(self.scope, return_counts=True)
        usual = [str(one) for one, size in zip(names, sizes) if SMALLEST_SCOPE <= size <= LARGEST_SCOPE]
        random.Random(1).shuffle(usual)
        self.scopes = usual

    def names(self):
        return ["vector", "keyword", "hybrid", *FILTERS, "scoped", "scoped hybrid"]

    def question(self, case, at):
        """What the contender is asked, as in the contract."""
        mode = "hybrid" if "hybrid" in case else "keyword" if case == "keyword" else "vector"
        question = {"mode": mode, "limit": LIMIT, "text": self.queries[at]["text"]}
        if mode != "keyword":
            question["vector"] = self.vectors[at].tolist()
        if wanted := self.filter(case, at):
            question["filter"] = wanted
        return question

    def filter(self, case, at):
        if case in FILTERS:
            return {"permille_below": FILTERS[case]}
        return {"scope": self.scopes[at % len(self.scopes)]} if case.startswith("scoped") else None

    def matches(self, case, at):
        """Which rows the filter lets through."""
        wanted = self.filter(case, at) or {}
        if "scope" in wanted:
            return self.alive & (self.scope == wanted["scope"])
        if "permille_below" in wanted:
            return self.alive & (self.permille < wanted["permille_below"])
        return self.alive

    def judge(self, case, at, hits):
        """Recall, where there is one right answer, and what is wrong with the hits otherwise."""
        allowed = self.matches(case, at)
        rows = [place(hit["id"]) for hit in hits]
        wrong = sum(not allowed[row] or self.rows[row]["text"] != hit["text"] for row, hit in zip(rows, hits))
        verdict = {"wrong": wrong + len(rows) - len(set(rows)), "short": 0, "recall": None}
        if case not in ("keyword", "hybrid", "scoped hybrid"):
            wanted = self.wanted(case, at, allowed)
            verdict["short"] = max(0, len(wanted) - len(rows))
            verdict["recall"] = len(set(rows) & set(wanted)) / max(1, len(wanted))
        return verdict

    def wanted(self, case, at, allowed):
        if case == "vector":
            return self.nearest[at][:LIMIT].tolist()
        found = truth.nearest(self.vectors[at : at + 1], self.stored[allowed], LIMIT)[0]
        return np.flatnonzero(allowed)[found[found >= 0]].tolist()


def place(identifier):
    """A text's row is its identifier's number."""
    return int(identifier[1:])
