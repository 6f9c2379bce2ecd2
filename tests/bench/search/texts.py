"""The pool: distinct short texts in an order that depends on each text alone, and queries.

A text's place is the hash of its words, so a smaller corpus is always the beginning of a
larger one, and a machine with more texts has them in between. The first texts are held
out: they become queries and never enter the corpus.
"""

import hashlib
import json
import re

import sources

SHORTEST_WORDS, LONGEST_WORDS = 8, 60
STRETCH_WORDS = 24
QUERIES = 500
SEED = b"ostraca-search-1"

STOP = frozenset(
    """a about after all also an and any are as at be because been before being between both but by can could did do
    does each either for from had has have if in into is it its may might more most must no not of on only or other
    our out over should so some such than that the their them then there these they this those through to under up
    use used uses using was we were what when where which while who will with within without would you your""".split()
)


def build(path, kind, say):
    """Writes every distinct text of a kind as `{"text", "scope"}`, in its order; gives how many."""
    seen = _distinct(KINDS[kind], say)
    with open(path, "w") as out:
        for place in sorted(seen):
            text, scope = seen[place]
            out.write(json.dumps({"text": text, "scope": scope}) + "\n")
    return len(seen)


def _distinct(cut, say):
    seen = {}
    for name, found in sources.paragraphs():
        before = len(seen)
        for scope, paragraph in found:
            for text in cut(paragraph):
                place = hashlib.blake2b(" ".join(_words(text)).encode(), digest_size=12, key=SEED).digest()
                seen.setdefault(place, (text, scope))
        say(f"{name}: {len(seen) - before:,} new texts")
    return seen


def sentences(paragraph):
    """Sentences that read as prose and have the wanted length."""
    return (text for text in _split(paragraph) if _fits(text))


def pairs(paragraph):
    """Every two sentences that follow each other and together have the wanted length."""
    parts = list(_split(paragraph))
    return (text for text in map(" ".join, zip(parts, parts[1:])) if _fits(text))


def stretches(paragraph):
    """Twenty-four words from every twelfth on, wherever sentences begin and end."""
    words = paragraph.split()
    for start in range(0, len(words) - STRETCH_WORDS + 1, STRETCH_WORDS // 2):
        text = " ".join(words[start : start + STRETCH_WORDS])
        if _is_prose(text):
            yield text


def _split(paragraph):
    return re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(])", " ".join(paragraph.split()))


def _fits(text):
    return SHORTEST_WORDS <= len(text.split()) <= LONGEST_WORDS and text[-1] in ".!?:" and _is_prose(text)


def _is_prose(text):
    letters = sum(char.isalpha() or char == " " for char in text)
    return (
        len(text) <= 600
        and text.isascii()
        and text.isprintable()
        and text[0].isalpha()
        and letters >= 0.85 * len(text)
        and len({word for word in _words(text) if len(word) > 2}) >= 5
    )


def _words(text):
    # Digits are left out: texts that differ in a number alone are one text.
    return re.findall(r"[a-z]+", text.lower())


# In the order in which the pool takes them. Sentences are of independent origin; what follows
# them is real text with vectors of its own, but overlaps its neighbours.
KINDS = {"sentences": sentences, "pairs": pairs, "stretches": stretches}


def as_query(text, ordinal):
    """Three to eight words that carry meaning, in their order."""
    words = [word for word in re.findall(r"[A-Za-z][A-Za-z0-9_'-]*", text) if word.lower() not in STOP]
    return " ".join(words[: 3 + ordinal % 6]).lower()
