"""Synthetic JSON Lines that behave like web text: Zipf words, log-normal lengths, about 4.6 KB a document.

About 6 % of the bytes are not ASCII. The same seed and size give the same bytes.
"""

import itertools
import json
import random
from pathlib import Path

POOL = 8_000  # documents that differ; larger files repeat them in another order, far beyond zstd's window of 2 MiB
SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne no ra re ri ro sa se si so ta te ti to tu va ve vi wa wo ya zu st nd ng th ch".split()
ACCENTED = ["é", "è", "ü", "ö", "ñ", "ç", "ß", "я", "ж", "λ", "字", "語", "—", "’"]


def vocabulary(choose: random.Random, words: int) -> list[str]:
    """Words that get longer with their rank, some with letters beyond ASCII."""
    made = []
    for rank in range(1, words + 1):
        word = "".join(choose.choices(SYLLABLES, k=min(1 + rank.bit_length() // 4 + choose.randint(0, 1), 5)))
        if choose.random() < 0.145:
            word += choose.choice(ACCENTED)
        made.append(word)
    return made


def documents(seed: int) -> list[bytes]:
    """The pool, each document one line."""
    choose = random.Random(seed)
    words = vocabulary(choose, 50_000)
    weights = list(itertools.accumulate((rank + 2.7) ** -1.06 for rank in range(len(words))))
    lines = []
    for number in range(POOL):
        length = max(5, int(choose.lognormvariate(5.98, 0.9)))
        text = " ".join(choose.choices(words, cum_weights=weights, k=length))
        lines.append((json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n").encode())
    return lines


def write(path: Path, size: int, seed: int = 7) -> None:
    """Writes at least `size` bytes of whole lines, unless a file of that size is there."""
    if path.exists() and path.stat().st_size >= size:
        return
    pool = documents(seed)
    choose = random.Random(seed)
    written = 0
    with path.open("wb") as file:
        while written < size:
            line = choose.choice(pool)
            file.write(line)
            written += len(line)


if __name__ == "__main__":
    lines = documents(7)
    data = b"".join(lines)
    beyond = sum(byte > 127 for byte in data)
    print(f"{len(data) / len(lines):.0f} bytes a document, {100 * beyond / len(data):.1f} % of the bytes beyond ASCII")
