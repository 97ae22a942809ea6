"""Reads the benchmarks' pages and reference texts; as a program, writes the pages for extractors to read.

    prepare.py DATA PAGES.jsonl

The pages belong to others and are no part of the project: `--data` names the folder that holds `scrapinghub` (the article
extraction benchmark of Scrapinghub, 181 articles) and `wcxb-dev` (350 pages of seven types of the WCXB).
"""

import gzip
import json
import pathlib
import sys
import urllib.parse
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """A page with the text that people found to be its main text."""

    id: str
    set: str
    kind: str
    url: str
    title: str
    html: str
    gold: str

    @property
    def site(self) -> str:
        host = urllib.parse.urlsplit(self.url).hostname or self.id
        return ".".join(host.split(".")[-2:])


def samples(data: pathlib.Path) -> list[Sample]:
    return [*scrapinghub(data / "scrapinghub"), *wcxb(data / "wcxb-dev")]


def page(path: pathlib.Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")


def scrapinghub(folder: pathlib.Path):
    gold = json.loads((folder / "gold.json").read_text("utf-8"))
    for id, article in sorted(gold.items()):
        html = page(folder / "html" / f"{id}.html.gz")
        yield Sample(f"scrapinghub/{id}", "scrapinghub", "article", article["url"], "", html, article["articleBody"])


def wcxb(folder: pathlib.Path):
    for line in (folder / "gold.jsonl").read_bytes().splitlines():
        row = json.loads(line)
        html = page(folder / "html" / f"{row['id']}.html.gz")
        yield Sample(f"wcxb/{row['id']}", "wcxb", row["page_type"], row["url"], row["title"], html, row["text"])


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for sample in samples(pathlib.Path(sys.argv[1])):
            out.write(json.dumps({"id": sample.id, "url": sample.url, "html": sample.html}, ensure_ascii=False) + "\n")
