#!/usr/bin/env python3
"""Makes `harbour.warc.gz`: a web archive as crawlers write them, one gzip member a record."""

import gzip
import hashlib
import uuid
from pathlib import Path

HERE = Path(__file__).parent
DATE = "2026-01-31T12:00:00Z"

PAGES = {
    "https://harbour.example/": (
        "The old harbour",
        "<p>The ferry leaves at six, before the fog has lifted, and only the bell tells where the pier is.</p>"
        "<p>Whoever misses it waits for the next one in the house with the green door, where there is soup.</p>",
    ),
    "https://harbour.example/bell": (
        "The bell",
        "<p>It was cast in 1871 for a church that was never built, and has hung at the end of the pier since then.</p>"
        "<pre><code>while fog:\n    ring()\n    wait(seconds=30)</code></pre>",
    ),
    "https://harbour.example/hafen": (
        "Der alte Hafen",
        "<p>Die Fähre fährt um sechs, bevor sich der Nebel hebt, und nur die Glocke sagt, wo der Steg ist. Wer sie "
        "verpasst, wartet in dem Haus mit der grünen Tür auf die nächste; dort gibt es Suppe.</p>",
    ),
}
MENU = '<nav><a href="/">Harbour</a> <a href="/bell">Bell</a> <a href="/hafen">Deutsch</a></nav>'


def record(kind: str, fields: dict[str, str], block: bytes) -> bytes:
    """A record (ISO 28500), whose id follows from its content, so that this file always makes the same bytes."""
    name = hashlib.sha256(kind.encode() + repr(fields).encode() + block).hexdigest()
    head = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}>",
        "WARC-Date": DATE,
        **fields,
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{key}: {value}\r\n" for key, value in head.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def answer(url: str, head: str, body: bytes) -> bytes:
    """What a server said."""
    fields = {"WARC-Target-URI": url, "Content-Type": "application/http; msgtype=response"}
    return record("response", fields, f"HTTP/1.1 {head}\r\n\r\n".encode() + body)


def request(url: str) -> bytes:
    """What it was asked."""
    fields = {"WARC-Target-URI": url, "Content-Type": "application/http; msgtype=request"}
    return record("request", fields, b"GET / HTTP/1.1\r\nHost: harbour.example\r\n\r\n")


def chunked(body: bytes) -> bytes:
    """A body as servers send it that do not know its length beforehand."""
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:100], body[100:])) + b"0\r\n\r\n"


def records() -> list[bytes]:
    """A crawl of a very small site: each page in another dress, and what is no page."""
    all_records = [record("warcinfo", {"Content-Type": "application/warc-fields"}, b"software: examples/pages\r\n")]
    dresses = [
        ("text/html; charset=utf-8\r\nContent-Encoding: gzip", "utf-8", lambda body: gzip.compress(body, mtime=0)),
        ("text/html\r\nTransfer-Encoding: chunked", "utf-8", chunked),
        ("text/html; charset=iso-8859-1", "iso-8859-1", bytes),
    ]
    for (url, (title, body)), (fields, charset, dress) in zip(PAGES.items(), dresses):
        page = f"<!DOCTYPE html><title>{title}</title>{MENU}<main><h1>{title}</h1>{body}</main>"
        all_records += [request(url), answer(url, f"200 OK\r\nContent-Type: {fields}", dress(page.encode(charset)))]
    all_records += [
        answer("https://harbour.example/pier.png", "200 OK\r\nContent-Type: image/png", b"\x89PNG\r\n\x1a\n"),
        answer("https://harbour.example/old", "404 Not Found\r\nContent-Type: text/html", b"<p>No such page.</p>"),
    ]
    return all_records


if __name__ == "__main__":
    (HERE / "harbour.warc.gz").write_bytes(b"".join(gzip.compress(one, mtime=0) for one in records()))
