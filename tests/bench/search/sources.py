"""Real prose that a developer's machine has anyway: where it lies, and how to get it out.

Each source yields `(scope, paragraph)`: the scope is the package that the paragraph is
from, in the form of a scope path. Nothing is fetched, and a source that a machine lacks
yields nothing; so the texts differ from machine to machine, and what is measured on them
is always compared within one run.
"""

import ast
import gzip
import html
import json
import os
import pathlib
import re
import sysconfig
import warnings

HOME = pathlib.Path.home()


def paragraphs():
    """All sources, one after the other."""
    for source in (crates, rust_manual, manual_pages, python_docstrings, npm_packages, debian, scifact):
        yield source.__name__, source()


def crates():
    """Documentation comments of every crate that cargo has unpacked."""
    for registry in sorted((HOME / ".cargo/registry/src").glob("*")):
        for crate in sorted(registry.iterdir()):
            scope = f"crate/{_segment(re.sub(r'-[0-9].*$', '', crate.name))}"
            for file in sorted(crate.rglob("*.rs")):
                yield from ((scope, found) for found in _doc_comments(_read(file)))
            for file in sorted(crate.rglob("*.md")):
                yield from ((scope, found) for found in _markdown(_read(file)))


def rust_manual():
    """The library's documentation and the books that rustup installs."""
    for toolchain in sorted((HOME / ".rustup/toolchains").glob("*")):
        root = toolchain / "share/doc"
        for file in sorted(root.rglob("*.html")):
            parts = file.relative_to(root).parts[2:-1] or ("index",)
            # Machine instructions, whose pages differ by a letter.
            if "arch" in parts or "src" in parts or file.name == "print.html":
                continue
            scope = "rust/" + "/".join(_segment(part) for part in parts[:2])
            for found in re.findall(r"<p>(.*?)</p>", _read(file), re.DOTALL):
                yield scope, html.unescape(re.sub(r"<[^>]*>", "", found))


def manual_pages():
    """Manual pages in English."""
    root = pathlib.Path("/usr/share/man")
    for file in sorted(root.glob("man[1-9]/*.gz")):
        try:
            text = gzip.decompress(file.read_bytes()).decode("utf-8", "replace")
        except OSError:
            continue
        name = re.split(r"[-_.:+]", file.name)[0]
        scope = f"man/{_segment(name)}"
        yield from ((scope, found) for found in _roff(text))


def python_docstrings():
    """Docstrings of this interpreter's library, of others beside it, and of their packages."""
    roots = {pathlib.Path(sysconfig.get_path("stdlib")), pathlib.Path(sysconfig.get_path("purelib"))}
    roots.update((HOME / ".pyenv/versions").glob("*/lib/python3*"))
    for root in sorted(roots):
        for file in sorted(root.rglob("*.py")):
            parts = file.relative_to(root).parts
            at = parts.index("site-packages") + 1 if "site-packages" in parts else 0
            scope = f"python/{_segment(parts[at].removesuffix('.py'))}"
            yield from ((scope, found) for found in _docstrings(_read(file)))


def npm_packages():
    """Comments in type declarations, and Markdown, of npm packages in the cache folder and of npm."""
    cache = pathlib.Path(os.environ.get("OSTRACA_CACHE", HOME / ".cache/ostraca"))
    for root in (cache / "node/node_modules", pathlib.Path("/usr/lib/node_modules")):
        for file in sorted(root.rglob("*")):
            declares, prose = file.name.endswith(".d.ts"), file.name.endswith(".md")
            if not (declares or prose) or not file.is_file():
                continue
            after = file.as_posix().rsplit("/node_modules/", 1)[1].split("/")
            name = after[1] if after[0].startswith("@") and len(after) > 1 else after[0]
            found = _block_comments(_read(file)) if declares else _markdown(_read(file))
            yield from ((f"npm/{_segment(name)}", text) for text in found)


def debian():
    """Changes and notes of the Debian packages that are installed."""
    root = pathlib.Path("/usr/share/doc")
    for file in sorted(root.glob("*/*")):
        if re.match(r"(README|NEWS|changelog|FAQ|TODO)", file.name, re.IGNORECASE) and file.is_file():
            try:
                raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
            except OSError:
                continue
            text = raw.decode("utf-8", "replace")
            for found in re.split(r"\n\s*\n|\n\s*[*+-] ", text):
                yield f"debian/{_segment(file.parent.name)}", found


def scifact():
    """Abstracts of SciFact, if `OSTRACA_SCIFACT` names its folder."""
    folder = os.environ.get("OSTRACA_SCIFACT")
    if not folder:
        return
    for file in sorted(pathlib.Path(folder).glob("corpus.jsonl*")):
        opened = gzip.open(file, "rt") if file.suffix == ".gz" else open(file)
        with opened as lines:
            for line in lines:
                yield "scifact", json.loads(line)["text"]


def _read(file):
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def _segment(name):
    return re.sub(r"[^a-z0-9_.-]+", "-", name.lower()).strip("-.") or "other"


def _doc_comments(text):
    block = []
    for line in text.splitlines():
        found = re.match(r"\s*//[/!](?!/) ?(.*)", line)
        if found:
            block.append(found[1])
        elif block:
            yield from _markdown("\n".join(block))
            block = []


def _block_comments(text):
    for block in re.findall(r"/\*\*(.*?)\*/", text, re.DOTALL):
        lines = [re.sub(r"^\s*\* ?", "", line) for line in block.splitlines()]
        # A tag such as `@param name` begins a paragraph of its own.
        yield from _markdown(re.sub(r"(?m)^\s*@\w+.*?(?= [A-Z]|$)", "\n", html.unescape("\n".join(lines))))


def _markdown(text):
    text = re.sub(r"(?s)```.*?(```|$)|~~~.*?(~~~|$)|<!--.*?-->", "\n\n", text)
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?", r"\1", text)
    text = re.sub(r"<[^>\n]{0,200}>", "", text)
    for found in re.split(r"\n\s*\n|\n\s*(?:[*+-]|\d+[.)]) +|\n#+ .*|\n\|.*", text):
        if not found.startswith(("    ", "\t", "|", "#")):
            yield re.sub(r"(\*\*|__|`)", "", found)


def _docstrings(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            for found in re.split(r"\n\s*\n|\n\s*[*-] ", ast.get_docstring(node) or ""):
                if ">>>" not in found and ":param" not in found:
                    yield re.sub(r":\w+:`~?([^`]*)`", r"\1", found).replace("`", "")


_TEXT_MACRO = re.compile(r"[.'](B|I|BR|RB|BI|IB|IR|RI|SM|Fl|Ar|Nm|Cm|Xr|Pa|Em|Sy|Va|Dv|Ev) +(.*)")


def _roff(text):
    paragraph = []
    for line in text.splitlines():
        if not line.startswith((".", "'")):
            paragraph.append(line)
        elif found := _TEXT_MACRO.match(line):
            apart = "" if len(found[1]) == 2 and found[1].isupper() else " "
            paragraph.append(apart.join(found[2].replace('"', "").split()))
        elif not line.startswith(('.\\"', ".\n")):
            yield _plain_roff(" ".join(paragraph))
            paragraph = []
    yield _plain_roff(" ".join(paragraph))


def _plain_roff(text):
    text = re.sub(r"\\f(\[[^\]]*\]|\(..|.)|\\s[+-]?\d+|\\m\[[^\]]*\]", "", text)
    text = text.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "").replace("\\ ", " ")
    text = re.sub(r"\\\((lq|rq|dq)|\\\[(lq|rq|dq)\]", '"', text)
    text = re.sub(r"\\\((aq|cq|oq)|\\\[(aq|cq|oq)\]", "'", text)
    return re.sub(r"\\(\(..|\[[^\]]*\]|[|^%:c/,0~])", "", text)
