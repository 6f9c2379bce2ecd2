"""The search benchmark: each contender on the same data, server, queries and machine.

    run.py --count 100000 --contender lance --contender 'ostraca=COMMAND' --out results.json

Every cold query has a process of its own. Steps, requests and bytes depend on no machine;
times do, and count only within one run.
"""

import argparse
import json
import os
import pathlib
import platform
import shlex
import statistics
import sys
import time

import cases
from contender import Contender, Refused
from corpus import DATA, say
from storage import Storage

HERE = pathlib.Path(__file__).parent
GOAL = 0.95
QUICK = {"first_byte_ms": 0, "bytes_per_second": 0}
COSTS = ("ms", "steps", "requests", "gets", "lists", "bytes_read")


class Run:
    def __init__(self, asked, storage, name, command, out):
        self.asked, self.storage, self.name, self.command, self.out = asked, storage, name, command, out
        self.slow = {"first_byte_ms": asked.first_byte_ms, "bytes_per_second": asked.bytes_per_second}
        self.bucket = f"bench-{name}"
        self.setting = 0

    def process(self):
        return Contender(self.command, self.storage, self.bucket, DATA, self.asked.count)

    def record(self, phase, case, state, measure, values):
        values = [float(value) for value in values]
        ordered = sorted(values)
        self.out(
            {
                "contender": self.name, "count": self.asked.count, "phase": phase, "case": case, "state": state,
                "measure": measure, "n": len(values), "mean": statistics.fmean(values),
                "p50": statistics.median(values), "p95": ordered[int(0.95 * (len(ordered) - 1))], "max": ordered[-1],
            }
        )  # fmt: skip

    def everything(self):
        self.job("build", "built")
        known = cases.Cases(DATA, self.asked.count, changed=False)
        self.tune(known)
        self.queries("built", known, known.names())
        self.job("change", "changed")
        known = cases.Cases(DATA, self.asked.count, changed=True)
        some = ["vector", "keyword", "hybrid", "filtered 10 %", "scoped"]
        self.queries("changed", known, some)
        self.job("compact", "compacted")
        self.queries("compacted", known, some)

    def job(self, op, phase):
        """Work on the whole collection, without latency: it is the machine's time that counts."""
        self.storage.pace(**QUICK)
        with self.process() as process:
            if op == "build":
                self.out({"contender": self.name, "about": process.about})
            answer, cost = process.ask(op)
            peak = process.peak_bytes()
        say(f"{self.name}: {op} took {cost['ms'] / 1e3:.1f} s, {peak / 1e6:.0f} MB, {answer}")
        for measure in ("ms", "steps", "requests", "gets", "puts", "bytes_read", "bytes_written"):
            self.record(phase, op, "job", measure, [cost[measure]])
        for part, ms in answer.get("ms", {}).items():
            self.record(phase, f"{op}: {part}", "job", "ms", [ms])
        self.record(phase, op, "job", "peak_bytes", [peak])
        for measure, value in self.storage.size(self.bucket).items():
            self.record(phase, op, "job", f"stored_{measure}", [value])

    def tune(self, known):
        """Chooses, of the settings that reach the goal, the one that asks least of storage when cold.
        Not the quickest: on a machine that others use as well, that would be chance."""
        self.storage.pace(**QUICK)
        with self.process() as process:
            settings = process.about["settings"]
            recalls = [self.recall(process, known, "vector", self.asked.tuning, at) for at in range(len(settings))]
        reach = [at for at, recall in enumerate(recalls) if recall >= GOAL]
        for at, recall in enumerate(recalls):
            say(f"{self.name}: {settings[at]} recall@10 {recall:.3f}")
        # Only those of which no other has less of something, no more of anything, and still enough.
        best = [at for at in reach if not any(_less(settings[other], settings[at]) for other in reach)]
        best = best or [max(range(len(recalls)), key=recalls.__getitem__)]
        self.storage.pace(**self.slow)
        order = ("requests", "bytes_read")
        costs = {at: self.cold(known, "vector", min(5, self.asked.cold), at)[0] for at in best}
        self.setting = min(best, key=lambda at: [statistics.fmean(one[key] for one in costs[at]) for key in order])
        chosen = {"setting": settings[self.setting], "recall": recalls[self.setting], "reached": bool(reach)}
        say(f"{self.name}: chosen {chosen}; others were {[settings[at] for at in best]}")
        self.out({"contender": self.name, "count": self.asked.count, "chosen": chosen})

    def recall(self, process, known, case, queries, setting):
        verdicts = [self.one(process, known, case, at, "any", setting)[1] for at in range(queries)]
        return statistics.fmean(verdict["recall"] for verdict in verdicts)

    def one(self, process, known, case, at, consistency, setting=None):
        setting = self.setting if setting is None else setting
        question = known.question(case, at)
        answer, cost = process.ask("query", consistency=consistency, setting=setting, **question)
        return cost, known.judge(case, at, answer["hits"])

    def cold(self, known, case, times, setting=None):
        """Each query in a process of its own."""
        costs, peaks = [], []
        for at in range(times):
            with self.process() as process:
                cost, _ = self.one(process, known, case, at, "strong", setting)
                costs.append(cost)
                peaks.append(process.peak_bytes())
        return costs, peaks

    def queries(self, phase, known, names):
        for case in names:
            try:
                self.case(phase, known, case)
            except Refused as error:
                say(f"{self.name}, {phase}, {case}: {error}")
                self.out({"contender": self.name, "phase": phase, "case": case, "error": str(error)})

    def case(self, phase, known, case):
        self.storage.pace(**self.slow)
        costs, peaks = self.cold(known, case, self.asked.cold)
        self.costs(phase, case, "cold", costs)
        self.record(phase, case, "cold", "peak_bytes", peaks)
        # Queries that were not asked before, of a process that has answered others.
        first, last = self.asked.cold, self.asked.cold + self.asked.warm
        # Checked: it sees what other processes have written until then.
        for consistency, state in (("strong", "warm"), ("any", "warm, unchecked")):
            with self.process() as process:
                for at in range(first):
                    self.one(process, known, case, at, consistency)
                warm = [self.one(process, known, case, at, consistency)[0] for at in range(first, last)]
                self.costs(phase, case, state, warm)
                if consistency == "strong":
                    hot = [self.one(process, known, case, first, consistency)[0] for _ in range(self.asked.warm)]
                    self.costs(phase, case, "hot", hot)
                    self.record(phase, case, "warm", "peak_bytes", [process.peak_bytes()])
        self.storage.pace(**QUICK)
        with self.process() as process:
            all_of_it = [self.one(process, known, case, at, "any") for at in range(self.asked.judged)]
        verdicts = [verdict for _, verdict in all_of_it]
        self.record(phase, case, "no latency", "ms", [cost["ms"] for cost, _ in all_of_it])
        self.record(phase, case, "answers", "wrong hits", [sum(one["wrong"] for one in verdicts)])
        self.record(phase, case, "answers", "missing hits", [sum(one["short"] for one in verdicts)])
        if verdicts[0]["recall"] is not None:
            self.record(phase, case, "answers", "recall@10", [one["recall"] for one in verdicts])

    def costs(self, phase, case, state, costs):
        for measure in COSTS:
            self.record(phase, case, state, measure, [cost[measure] for cost in costs])
        middle = {measure: statistics.median(cost[measure] for cost in costs) for measure in COSTS}
        say(f"{self.name}, {phase}, {case}, {state}: {middle}")


def _less(one, other):
    return one != other and all(one[key] <= other[key] for key in one)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--contender", action="append", help="lance, or NAME=COMMAND; may be given again")
    parser.add_argument("--out", type=pathlib.Path, help="default: results-100k.json in the data folder")
    parser.add_argument("--server", default=os.environ.get("OSTRACA_COUNTING_S3"), help="the counting_s3 binary")
    parser.add_argument("--first-byte-ms", type=int, default=30)
    parser.add_argument("--bytes-per-second", type=int, default=90_000_000)
    parser.add_argument("--cold", type=int, default=20, help="cold queries of each case")
    parser.add_argument("--warm", type=int, default=30, help="warm queries of each case")
    parser.add_argument("--judged", type=int, default=500, help="queries of each case that recall is taken from")
    parser.add_argument("--tuning", type=int, default=200, help="queries that a setting is chosen by")
    asked = parser.parse_args()
    if not asked.server:
        parser.error("--server, or OSTRACA_COUNTING_S3, has to name the counting_s3 binary")
    name = f"{asked.count // 1000}k"
    if not (DATA / f"gt-{name}-after.npy").exists():
        parser.error(f"there is no corpus of {asked.count} texts; run: corpus.py --count {asked.count}")
    path = asked.out or DATA / f"results-{name}.json"
    records = [
        {
            "run": {
                "date": time.strftime("%Y-%m-%d", time.gmtime()), "cores": os.cpu_count(), "machine": platform.machine(),
                "load": os.getloadavg()[0], "first_byte_ms": asked.first_byte_ms,
                "bytes_per_second": asked.bytes_per_second, "count": asked.count, "queries": asked.judged,
            }
        }
    ]  # fmt: skip

    def out(record):
        # Written each time, so that a run that is ended leaves what it has.
        records.append(record)
        path.write_text("".join(json.dumps(one) + "\n" for one in records))

    for contender in asked.contender or ["lance"]:
        name, _, command = contender.partition("=")
        command = shlex.split(command) if command else [sys.executable, str(HERE / f"{name}.py")]
        storage = Storage(asked.server)
        try:
            Run(asked, storage, name, command, out).everything()
        finally:
            storage.close()
    say(f"results are in {path}")


main()
