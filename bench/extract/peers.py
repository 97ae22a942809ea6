"""Runs an extractor of PyPI over pages, as the Rust program beside it does its own.

    python3 peers.py TOOL < pages.jsonl > texts.jsonl
"""

import json
import sys
import time

TOOLS = {}


def tool(name):
    return lambda function: TOOLS.setdefault(name, function)


@tool("trafilatura")
def trafilatura(html: str, url: str) -> str:
    from trafilatura import extract

    return extract(html, url=url) or ""


@tool("trafilatura-precision")
def trafilatura_precision(html: str, url: str) -> str:
    from trafilatura import extract

    return extract(html, url=url, favor_precision=True) or ""


@tool("trafilatura-fast")
def trafilatura_fast(html: str, url: str) -> str:
    from trafilatura import extract

    return extract(html, url=url, fast=True) or ""


@tool("resiliparse")
def resiliparse(html: str, url: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    return extract_plain_text(HTMLTree.parse(html), main_content=True)


@tool("resiliparse-tuned")
def resiliparse_tuned(html: str, url: str) -> str:
    """With the settings that suit articles best."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse(html)
    return extract_plain_text(tree, main_content=True, alt_texts=False, list_bullets=False, comments=False)


def main() -> None:
    extract = TOOLS[sys.argv[1]]
    extract("<p>The first page pays for imports.</p>", "https://example.org/")
    for line in sys.stdin:
        page = json.loads(line)
        before = time.process_time()
        try:
            text = extract(page["html"], page["url"])
        except Exception as error:  # A tool that fails on a page has no text of it.
            print(f"{page['id']}: {error!r}", file=sys.stderr)
            text = ""
        spent = time.process_time() - before
        print(json.dumps({"id": page["id"], "title": "", "text": text, "cpu_s": spent}, ensure_ascii=False))


main()
