#!/usr/bin/env python3
"""The straightforward Python version of the whole stage, to compare with: download, verify, split, compress, ledger.

    straight.py json|orjson URL SHA256 FOLDER

No resume, no retries, no syncing, no receipts, no locks.
"""

import asyncio
import hashlib
import json
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import zstandard

CHUNK = 1 << 20
PART_DOCS = 100_000


async def download(url: str, path: Path) -> None:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=CHUNK)
    writer.write(f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:] if ": " in line)
    left = int(fields["content-length"])
    with path.open("wb") as file:
        while left:
            chunk = await reader.read(min(CHUNK, left))
            if not chunk:
                raise SystemExit("the connection was cut")
            file.write(chunk)
            left -= len(chunk)
    writer.close()


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def codec(name: str):
    if name == "orjson":
        import orjson

        return orjson.loads, orjson.dumps
    return json.loads, lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def split(path: Path, url: str, folder: Path, name: str) -> int:
    loads, dumps = codec(name)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    writer, count = None, 0
    with path.open("rb") as source:
        for number, line in enumerate(source, start=1):
            if not line.strip():
                continue
            if count % PART_DOCS == 0:
                if writer:
                    writer.close()
                part = folder / f"part-{count // PART_DOCS:05}.jsonl.zst"
                writer = zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(part.open("wb"))
            text = loads(line)["text"]
            document = {"url": f"{url}#{number}", "fetched_at": now, "license_spdx": "CC0-1.0", "text": text}
            writer.write(dumps(document) + b"\n")
            count += 1
    if writer:
        writer.close()
    return count


async def main(name: str, url: str, sha256: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    path = folder / "download"
    await download(url, path)
    if await asyncio.to_thread(sha256_file, path) != sha256:
        raise SystemExit("the digest is not the pinned one")
    documents = split(path, url, folder, name)
    path.unlink()
    (folder / "LEDGER.jsonl").write_text(json.dumps({"url": url, "sha256": sha256, "n_docs": documents}) + "\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], Path(sys.argv[4])))
