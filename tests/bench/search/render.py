"""Results as Markdown tables, on stdout, and as plots in SVG.

    render.py results-100k.json … --plots FOLDER
"""

import argparse
import json
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

STATES = ("cold", "warm", "warm, unchecked", "hot")
PHASES = {
    "built": "As built",
    "changed": "After a tenth was updated and a tenth deleted",
    "compacted": "After compaction",
}
COLOURS = ("#3b6ea5", "#d9822b", "#5b9279", "#8c5a8c")


class Results:
    def __init__(self, files):
        records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        self.runs = [record["run"] for record in records if "run" in record]
        self.about = {record["contender"]: record["about"] for record in records if "about" in record}
        self.chosen = {record["contender"]: record["chosen"] for record in records if "chosen" in record}
        self.refused = [record for record in records if "error" in record]
        self.values = {_key(record): record for record in records if "measure" in record}
        self.contenders = list(self.about)

    def get(self, contender, phase, case, state, measure, of="p50"):
        record = self.values.get((contender, phase, case, state, measure))
        return None if record is None else record[of]

    def cases(self, phase):
        found = [case for _, at, case, state, _ in self.values if at == phase and state == "cold"]
        return list(dict.fromkeys(found))

    def name(self, contender):
        return self.about[contender]["name"]


def _key(record):
    return tuple(record[part] for part in ("contender", "phase", "case", "state", "measure"))


def markdown(results):
    run = results.runs[0]
    yield (
        f"{run['count']:,} texts of 384 dimensions; {run['first_byte_ms']} ms to the first byte, "
        f"{run['bytes_per_second'] / 1e6:.0f} MB/s shared; {run['cores']} cores, load {run['load']:.1f} at the start, "
        f"{run['date']}. Medians; recall is a mean."
    )
    for contender in results.contenders:
        about, chosen = results.about[contender], results.chosen.get(contender)
        setting = ", ".join(f"{key} {value}" for key, value in (chosen["setting"] if chosen else {}).items())
        yield f"\n{about['name']} {about['version']}" + (f": {setting}." if setting else ".")
    for phase, title in PHASES.items():
        if results.cases(phase):
            yield f"\n### {title}\n"
            yield from queries(results, phase)
    yield "\n### Work on the whole collection\n"
    yield from jobs(results)
    for one in results.refused:
        yield f"\n{results.name(one['contender'])} refused '{one['case']}' ({one['phase']}): {one['error']}"


def queries(results, phase):
    yield "| query | | recall@10 | state | steps | requests | bytes read | time | peak memory |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for case in results.cases(phase):
        for contender in results.contenders:
            for state in STATES:
                found = lambda measure: results.get(contender, phase, case, state, measure)
                if found("ms") is None:
                    continue
                recall = results.get(contender, phase, case, "answers", "recall@10", "mean")
                cells = [
                    case, results.name(contender), "" if recall is None else f"{recall:.3f}", state,
                    _count(found("steps")), _count(found("requests")), _count(found("bytes_read")),
                    _time(found("ms")), _megabytes(found("peak_bytes")),
                ]  # fmt: skip
                yield "| " + " | ".join(cells) + " |"


def jobs(results):
    yield "| job | | time | requests | bytes read | bytes written | peak memory | objects stored | bytes stored |"
    yield "|---|---|---|---|---|---|---|---|---|"
    found = [(phase, case) for _, phase, case, state, _ in results.values if state == "job"]
    for phase, case in dict.fromkeys(found):
        for contender in results.contenders:
            value = lambda measure: results.get(contender, phase, case, "job", measure)
            if value("ms") is None:
                continue
            cells = [
                case, results.name(contender), _time(value("ms")), _count(value("requests")),
                _count(value("bytes_read")), _count(value("bytes_written")), _megabytes(value("peak_bytes")),
                _count(value("stored_objects")), _count(value("stored_bytes")),
            ]  # fmt: skip
            yield "| " + " | ".join(cells) + " |"


def _count(value):
    return "" if value is None else f"{value:,.0f}"


def _time(ms):
    if ms is None:
        return ""
    return f"{ms:.1f} ms" if ms < 10 else f"{ms:,.0f} ms" if ms < 10_000 else f"{ms / 1e3:,.1f} s"


def _megabytes(value):
    return "" if value is None else f"{value / 1e6:,.0f} MB"


def plots(results, folder):
    folder.mkdir(parents=True, exist_ok=True)
    # The same figures give the same file.
    plt.rcParams.update({"svg.hashsalt": "ostraca", "svg.fonttype": "none", "font.size": 9})
    cases = results.cases("built")
    for name, title, measure, unit in (
        ("latency", "Time of a query, median", "ms", "ms"),
        ("steps", "Dependent steps of a query, median", "steps", "steps"),
        ("requests", "Requests of a query, median", "requests", "requests"),
        ("bytes", "Bytes read by a query, median", "bytes_read", "MB"),
    ):
        scale = 1e6 if unit == "MB" else 1
        figure, sides = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
        for side, state in zip(sides, ("cold", "warm")):
            series = {
                contender: [(results.get(contender, "built", case, state, measure) or 0) / scale for case in cases]
                for contender in results.contenders
            }
            _bars(side, results, cases, series)
            side.set_title(state)
        sides[0].set_ylabel(unit)
        figure.legend(*sides[0].get_legend_handles_labels(), loc="upper right", frameon=False)
        _save(figure, title, folder / f"search-{name}.svg")
    figure, sides = plt.subplots(1, 3, figsize=(10, 3.0))
    for side, (measure, title, scale) in zip(
        sides, (("ms", "build, s", 1e3), ("peak_bytes", "peak memory, MB", 1e6), ("stored_bytes", "stored, MB", 1e6))
    ):
        values = [(results.get(one, "built", "build", "job", measure) or 0) / scale for one in results.contenders]
        side.bar([results.name(one) for one in results.contenders], values, color=COLOURS, width=0.6)
        side.set_title(title)
        side.spines[["top", "right"]].set_visible(False)
    _save(figure, "Building the index", folder / "search-build.svg")


def _bars(side, results, cases, series):
    width = 0.8 / max(1, len(series))
    for at, (contender, values) in enumerate(series.items()):
        places = [place + (at - (len(series) - 1) / 2) * width for place in range(len(cases))]
        side.bar(places, values, width, label=results.name(contender), color=COLOURS[at % len(COLOURS)])
    side.set_xticks(range(len(cases)), cases, rotation=35, ha="right")
    side.spines[["top", "right"]].set_visible(False)


def _save(figure, title, path):
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--plots", type=pathlib.Path, help="folder for the SVG files")
    asked = parser.parse_args()
    results = Results(asked.results)
    print("\n".join(markdown(results)))
    if asked.plots:
        plots(results, asked.plots)


main()
