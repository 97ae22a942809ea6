#!/usr/bin/env python3
"""datatrove's JSON Lines reader and zstd writer, on a file that is already here: no download, no digest.

    with_datatrove.py FILE FOLDER

It writes through fsspec, whose level depends on the Python and on what else is installed: 10 with `zstandard`, 3 with
`compression.zstd` or its backport. Here it is 3, as everybody else's, with `zstandard`.
"""

import sys
from pathlib import Path

import fsspec.compression
import zstandard
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter


def zstd_level_3(file, **_):
    return zstandard.ZstdCompressor(level=3).stream_writer(file)


if __name__ == "__main__":
    fsspec.compression.register_compression("zstd", zstd_level_3, "zst", force=True)
    source, folder = Path(sys.argv[1]), sys.argv[2]
    reader = JsonlReader(str(source.parent), glob_pattern=source.name, compression=None)
    writer = JsonlWriter(folder, compression="zstd", max_file_size=-1)
    LocalPipelineExecutor(pipeline=[reader, writer], tasks=1, logging_dir=f"{folder}/logs").run()
