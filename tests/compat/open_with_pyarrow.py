"""Opens every object under a folder with pyarrow, reads it to the end and prints the
contents column: the promise that stored data is plain Arrow for any reader."""

import pathlib
import sys

import pyarrow.ipc

folder = pathlib.Path(sys.argv[1])
files = sorted(folder.rglob("*.arrow"))
assert files, f"no objects under {folder}"
for file in files:
    table = pyarrow.ipc.open_file(file).read_all()
    table.validate(full=True)
    print(file.relative_to(folder), table.num_rows, "rows", (table.schema.metadata or {}).keys())
    if "content" in table.column_names:
        print("  ", table.column("content").to_pylist())
print(f"{len(files)} objects opened")
