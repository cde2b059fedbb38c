"""Read files and write public tables; both sides are bytes, not paths."""

from dpcore.io.checks import Limits as Limits
from dpcore.io.checks import check_size as check_size
from dpcore.io.export import to_csv as to_csv
from dpcore.io.export import to_parquet as to_parquet
from dpcore.io.options import ColumnReading as ColumnReading
from dpcore.io.options import ReadOptions as ReadOptions
from dpcore.io.options import UnderstoodColumn as UnderstoodColumn
from dpcore.io.read import ReadResult as ReadResult
from dpcore.io.read import read_table as read_table
from dpcore.io.xlsx import to_xlsx as to_xlsx
