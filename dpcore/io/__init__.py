"""Files in, and public tables out, as bytes on both sides, without paths."""

from dpcore.io.checks import Limits, check_size
from dpcore.io.export import to_csv, to_parquet
from dpcore.io.options import ReadOptions, Understood
from dpcore.io.read import ReadResult, read_table

__all__ = [
    "Limits",
    "ReadOptions",
    "ReadResult",
    "Understood",
    "check_size",
    "read_table",
    "to_csv",
    "to_parquet",
]
