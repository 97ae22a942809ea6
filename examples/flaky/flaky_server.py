#!/usr/bin/env python3
"""A web server on loopback that misbehaves in the ways that real mirrors do, and says what it was asked.

    flaky_server.py FOLDER

It makes its files from a fixed seed, writes FOLDER/corpus.toml with their digests, prints one line per request to
stdout, and runs until it is ended.
"""

import gzip
import hashlib
import random
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WORDS = "the ferry bell fog pier river mud map clock tin pepper door blue ladder shadow lamp glove bread stall tree".split()


def letters(seed: int, documents: int) -> bytes:
    """JSON Lines of plain sentences; the same bytes for the same seed."""
    choose = random.Random(seed)
    lines = []
    for _ in range(documents):
        words = choose.choices(WORDS, k=choose.randint(40, 400))
        lines.append('{"text": "' + " ".join(words).capitalize() + '."}\n')
    return "".join(lines).encode()


FILES = {
    "/letters.jsonl": letters(1, 3000),
    "/diary.jsonl.gz": gzip.compress(letters(2, 9000), mtime=0),
    "/notes.jsonl": letters(3, 2000),
    "/cdn/7f3a/stories.jsonl": letters(4, 1500),
    "/mirror/songs.jsonl": letters(5, 1500),
}
# What goes wrong, in the order of the requests for a path; after the last one all is well.
FAULTS = {
    "/letters.jsonl": [("cut", 900_000), ("cut", 1_100_000)],
    "/diary.jsonl.gz": [("busy", 1)],
    "/notes.jsonl": [("cut", 600_000), ("ignore the range", 0)],
    "/songs.jsonl": [("broken", 0)] * 100,
}
MOVED = {"/stories.jsonl": "/cdn/7f3a/stories.jsonl"}
# id: url path, path of the bytes, mirror
SOURCES = {
    "letters": ("/letters.jsonl", "/letters.jsonl", None),
    "diary": ("/diary.jsonl.gz", "/diary.jsonl.gz", None),
    "notes": ("/notes.jsonl", "/notes.jsonl", None),
    "stories": ("/stories.jsonl", "/cdn/7f3a/stories.jsonl", None),
    "songs": ("/songs.jsonl", "/mirror/songs.jsonl", "/mirror/songs.jsonl"),
}


class Flaky(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        fault, amount = FAULTS[self.path].pop(0) if FAULTS.get(self.path) else (None, 0)
        if self.path in MOVED:
            return self.answer(302, b"", {"Location": MOVED[self.path]})
        if fault == "busy":
            return self.answer(503, b"come back later\n", {"Retry-After": str(amount)})
        if fault == "broken":
            return self.answer(500, b"the disk is gone\n", {})
        data = FILES.get(self.path)
        if data is None:
            return self.answer(404, b"no such file\n", {})
        start = self.first_byte() if fault != "ignore the range" else 0
        self.send_file(data, start, amount if fault == "cut" else None)

    def first_byte(self) -> int:
        """Where `Range: bytes=<first>-` starts; 0 without one."""
        return int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))

    def send_file(self, data: bytes, start: int, cut: int | None) -> None:
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()[:8]}"', "Accept-Ranges": "bytes"}
        if start >= len(data):
            return self.answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self.answer(206 if start else 200, data[start:], headers, cut)

    def answer(self, status: int, body: bytes, headers: dict[str, str], cut: int | None = None) -> None:
        asked = self.headers.get("Range", "no range")
        ending = f"{len(body):>9,} bytes" if cut is None else f"{cut:>9,} of {len(body):,} bytes, then the connection is cut"
        print(f"GET {self.path:<24} {asked:<16} -> {status}, {ending}", flush=True)
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[:cut])
        self.close_connection = cut is not None

    def log_message(self, *_: object) -> None:
        pass


def config(base: str) -> str:
    lines = ['dataset = "flaky"', 'version = "v1"']
    for source_id, (url, path, mirror) in SOURCES.items():
        lines += ["", "[[sources]]", f'id = "{source_id}"', f'url = "{base}{url}"']
        lines += [f'mirrors = ["{base}{mirror}"]'] if mirror else []
        lines += [f'sha256 = "{hashlib.sha256(FILES[path]).hexdigest()}"', 'license_spdx = "CC0-1.0"']
    return "\n".join(lines) + "\n"


def main(folder: str) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    written = Path(folder) / "corpus.toml.tmp"
    written.write_text(config(f"http://127.0.0.1:{server.server_address[1]}"), encoding="utf-8")
    written.rename(Path(folder) / "corpus.toml")
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
