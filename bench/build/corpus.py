"""Synthetic sources for whole builds: several JSON Lines files, and the config that pins them.

The words are those of `synthetic.py`, about 4.6 KB a document; here they stand in lines and paragraphs. Every text is
another one, but for one in fifty that repeats the text before it, and one in five has something to normalise:
decomposed letters and CR LF, or trailing blanks and runs of blank lines. The same size gives the same bytes.
"""

import hashlib
import json
import random
import unicodedata
from pathlib import Path

import synthetic

WORDS_A_LINE, LINES_A_PARAGRAPH, REPEATED = 15, 5, 50


def config(folder: Path, size: int, files: int) -> Path:
    """A config of `files` sources that have `size` bytes together, written into `folder` where they are not there."""
    path = folder / f"{size}-{files}.toml"
    sources = [folder / f"{size}-{files}-{number}.jsonl" for number in range(files)]
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        bodies = pool()
        for number, source in enumerate(sources):
            write(source, size // files, number, bodies)
        path.write_text(config_text(sources), encoding="utf-8")
    return path


def tiny(folder: Path, count: int) -> Path:
    """A config of `count` sources of one short document each."""
    path = folder / f"tiny-{count}.toml"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        sources = [folder / f"tiny-{number}.jsonl" for number in range(count)]
        for number, source in enumerate(sources):
            source.write_text(json.dumps({"text": f"The text of source number {number} is short."}) + "\n", encoding="utf-8")
        path.write_text(config_text(sources), encoding="utf-8")
    return path


def config_text(sources: list[Path]) -> str:
    lines = ['dataset = "bench"', 'version = "v1"']
    for source in sources:
        with source.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        lines += ["[[sources]]", f'id = "s{source.stem}"', f'url = "{source.name}"', f'sha256 = "{digest}"']
        lines += ['license_spdx = "CC0-1.0"']
    return "\n".join(lines) + "\n"


def pool() -> list[bytes]:
    """The texts of `synthetic.py` in lines and paragraphs, each the inside of a JSON string."""
    texts = (json.loads(line)["text"].split(" ") for line in synthetic.documents(7))
    return [json.dumps(spoilt(number, prose(words)), ensure_ascii=False).encode()[1:-1] for number, words in enumerate(texts)]


def prose(words: list[str]) -> str:
    lines = [" ".join(words[at : at + WORDS_A_LINE]) for at in range(0, len(words), WORDS_A_LINE)]
    paragraphs = ["\n".join(lines[at : at + LINES_A_PARAGRAPH]) for at in range(0, len(lines), LINES_A_PARAGRAPH)]
    return "\n\n".join(paragraphs)


def spoilt(number: int, text: str) -> str:
    """One text in five is not normalised."""
    if number % 10 == 0:
        return unicodedata.normalize("NFD", text).replace("\n", "\r\n")
    if number % 10 == 5:
        return text.replace("\n\n", "  \n\n\n\n")
    return text


def write(path: Path, size: int, seed: int, bodies: list[bytes]) -> None:
    choose, written, number, line = random.Random(seed), 0, 0, b""
    with path.open("wb") as file:
        while written < size:
            if number % REPEATED != REPEATED - 1:
                line = b'{"id":%d,"text":"Text %d of file %d\\n\\n%b"}\n' % (number, number, seed, choose.choice(bodies))
            file.write(line)
            written += len(line)
            number += 1
