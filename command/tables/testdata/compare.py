"""Compares every table of a report as pandas and pyarrow read it with its CSV: compare.py DIRECTORY"""

import pathlib
import sys

import pandas
import pyarrow
import pyarrow.parquet

types = {pyarrow.float64(): float, pyarrow.int64(): int, pyarrow.string(): str}
names = sorted(pathlib.Path(sys.argv[1]).glob("**/*.csv"))
for name in names:
    want = pandas.read_csv(name, dtype=str, keep_default_na=False)
    table = pyarrow.parquet.read_table(name.with_suffix(".parquet"))
    frame = pandas.read_parquet(name.with_suffix(".parquet"))
    assert table.column_names == list(want.columns), (name, table.column_names)
    assert list(frame.columns) == list(want.columns), (name, list(frame.columns))
    assert table.num_rows == len(frame) == len(want), (name, table.num_rows, len(frame), len(want))
    for column in want.columns:
        of = types[table.schema.field(column).type]
        values = table.column(column).to_pylist()
        assert frame[column].isna().tolist() == [v is None for v in values], (name, column)
        seen = frame[column].tolist()
        for i, text in enumerate(want[column]):
            expected = of(text) if text != "" else None
            assert values[i] == expected, (name, column, i, values[i], text)
            assert expected is None or seen[i] == expected, (name, column, i, seen[i], text)
print(f"{len(names)} tables agree; pandas {pandas.__version__}, pyarrow {pyarrow.__version__}")
