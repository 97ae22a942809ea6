#!/usr/bin/env python3
"""datatrove's JSON Lines reader and zstd writer as shipped, on a file that is already here: no download, no digest.

with_datatrove.py FILE FOLDER
"""

import sys
from pathlib import Path

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

if __name__ == "__main__":
    source, folder = Path(sys.argv[1]), sys.argv[2]
    reader = JsonlReader(str(source.parent), glob_pattern=source.name, compression=None)
    writer = JsonlWriter(folder, compression="zstd", max_file_size=-1)
    LocalPipelineExecutor(pipeline=[reader, writer], tasks=1, logging_dir=f"{folder}/logs").run()
