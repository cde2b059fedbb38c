"""Every error that dpcore raises on purpose, as one tree.

    DpcoreError                what is wrong, and what to do next
    ├── ParameterError         a number or name breaks its rule (also a ValueError)
    │   └── UsageError         a program breaks it; no page lets a person do so
    ├── SchemaError            the table and the schema do not fit together
    ├── LimitError             the request exceeds a stated limit; nothing was done
    │   ├── RowsError          all rows are needed at once, and there are too many
    │   └── ManyValuesError    a column's many different values identify people
    ├── ReadError              the bytes of a file are not a table that can be read
    ├── BudgetError            the budget does not allow it
    │   ├── BudgetExceeded     the charge is more than what is left
    │   └── BudgetFixed        the data set has another budget, rule or unit already
    ├── LedgerError            the ledger refuses or cannot answer
    │   ├── RequestConflict    a request id was used for something else, or has no end
    │   └── LedgerCorrupt      the chain of lines was altered
    ├── DisclosureError        private rows would have left where only public data may
    ├── HierarchyError         a generalization hierarchy has gaps or does not nest
    └── InfeasibleError        no solution meets the demand; names the nearest one

No message and no attribute ever holds a cell value, a row number or an exact count of
private rows. They name columns, declared bounds and parameters.
"""

from typing import Any


class DpcoreError(Exception):
    """The base of all errors: a problem and a remedy, each made from a template.

    The templates (`problem_template`, `remedy_template`) name their fields in braces,
    and `details` holds the fields. An interface translates the templates and fills them
    in again.
    """

    def __init__(self, problem: str, /, *, remedy: str = "", **details: Any) -> None:
        self.problem_template = problem.rstrip(".")
        self.remedy_template = remedy.rstrip(".")
        self.details = details
        self.problem = (
            self.problem_template.format(**details)
            if details
            else self.problem_template
        )
        self.remedy = (
            self.remedy_template.format(**details) if details else self.remedy_template
        )
        super().__init__(
            f"{self.problem}; {self.remedy}." if self.remedy else f"{self.problem}."
        )


class ParameterError(DpcoreError, ValueError):
    """An argument is invalid, such as a number out of range or an unknown name."""


class UsageError(ParameterError):
    """A program uses the library in a way that no page of the workbench allows."""


class SchemaError(DpcoreError):
    """The table and the schema do not fit together."""


class LimitError(DpcoreError):
    """The request is larger than a stated limit. Nothing was allocated or read."""


class RowsError(LimitError):
    """All rows are needed at once, and there are too many to bring into memory."""


class ManyValuesError(LimitError):
    """A column has so many different values that it identifies people.

    None of them was brought into memory.
    """


class ReadError(DpcoreError):
    """The bytes of a file are not a table that can be read."""


class BudgetError(DpcoreError):
    """The budget does not allow the request."""


class BudgetExceeded(BudgetError):
    """The charge exceeds the remaining budget. Nothing was charged."""


class BudgetFixed(BudgetError):
    """The data set already has another budget, composition rule or privacy unit."""


class LedgerError(DpcoreError):
    """The ledger refuses a request or cannot be reached."""


class RequestConflict(LedgerError):
    """A request id is taken: by another request, or by one that has not completed."""


class LedgerCorrupt(LedgerError):
    """The chain of ledger lines was altered."""


class DisclosureError(DpcoreError):
    """Private data would have been passed on where only public data is allowed."""


class HierarchyError(DpcoreError):
    """A generalization hierarchy is incomplete, or its levels do not nest."""


class InfeasibleError(DpcoreError):
    """No solution meets the requirements. `details` names the nearest one."""


def budget_exceeded_error(unit: str, charge: float, remaining: float) -> BudgetExceeded:
    """Return the error for a charge above the remaining budget."""
    return BudgetExceeded(
        "this costs {unit} {charge:g}, but only {unit} {left:g} is left",
        remedy="spend less",
        unit=unit,
        charge=charge,
        left=remaining,
    )


def source_changed_error() -> ReadError:
    """Return the error for a source that changed since it was opened."""
    return ReadError(
        "the source has changed since it was opened",
        remedy="open it again when nobody is writing to it",
    )


def missing_column_error(column: str) -> SchemaError:
    """Return the error for a table that lacks a column."""
    return SchemaError(
        "the table has no column {column!r}", remedy="check the names", column=column
    )


def no_rows_error() -> SchemaError:
    """Return the error for a table without rows."""
    return SchemaError(
        "the table has no rows", remedy="choose a table with at least one row"
    )


def unsupported_values_error(column: str) -> SchemaError:
    """Return the error for a column of unsupported values, such as lists or bytes."""
    return SchemaError(
        "column {column!r} holds values that are neither numbers nor dates nor texts",
        remedy="leave it out, or write it as text",
        column=column,
    )


def not_numeric_error(column: object) -> SchemaError:
    """Return the error for a numeric column that also holds other values."""
    return SchemaError(
        "column {column!r} does not hold numbers only",
        remedy="choose another column",
        column=column,
    )


def wrong_file_kind_error() -> ReadError:
    """Return the error for a file that is not of the expected kind."""
    return ReadError(
        "this is another kind of file, or it was changed",
        remedy="use the file as it was saved",
    )


def damaged_file_error(ending: str) -> ReadError:
    """Return the error for a file whose content does not match its extension."""
    return ReadError(
        "the file is named {ending}, but is damaged, encrypted or of another kind",
        remedy="export the table again as CSV in UTF-8",
        ending=ending,
    )


def not_installed_error(package: str, file: str) -> ParameterError:
    """Return the error for an optional package that is not installed."""
    return ParameterError(
        "{package} is not installed",
        remedy="pip install -r {file}",
        package=package,
        file=file,
    )


def unknown_name_error() -> ParameterError:
    """Return the error for an unknown name."""
    return ParameterError(
        "there is nothing with this name", remedy="choose one from the list"
    )


def too_few_rows_error() -> ParameterError:
    """Return the error for a table with too few rows to learn from."""
    return ParameterError(
        "the table has too few rows for this", remedy="use a table with more rows"
    )


def text_length_error(limit: int) -> ParameterError:
    """Return the error for a text that is empty or too long."""
    return ParameterError(
        "this text is empty, or has more than {most} characters",
        remedy="write a few words",
        most=limit,
    )


def no_common_columns_error() -> ParameterError:
    """Return the error for tables without comparable columns."""
    return ParameterError(
        "the tables have too few columns in common",
        remedy="compare tables with the same headers",
    )


def falling_range_error(column: str) -> ParameterError:
    """Return the error for a range that ends before it begins."""
    return ParameterError(
        "the range of column {column!r} must end above its start",
        remedy="put the lower bound first",
        column=column,
    )


def falling_bounds_error(low: float | None, high: float | None) -> ParameterError:
    """Return the error for a low bound that is not below the high bound."""
    return ParameterError(
        "low ({low}) must be below high ({high}), and both must be finite numbers",
        remedy="put the lower bound first",
        low=low,
        high=high,
    )


def too_many_cells_error(cells: int, limit: int) -> LimitError:
    """Return the error for a request for more cells than can be computed together."""
    return LimitError(
        "together these columns have {cells} cells, more than {limit}",
        remedy="use fewer columns, wider steps or fewer categories",
        cells=cells,
        limit=limit,
    )


def too_many_columns_error() -> LimitError:
    """Return the error for a request for more columns than can be computed together."""
    return LimitError(
        "these are too many columns to compute together",
        remedy="use fewer columns, wider steps or fewer categories",
    )


def two_roles_error(column: str) -> SchemaError:
    """Return the error for a column that is given two roles at once."""
    return SchemaError(
        "{column} has two roles at once",
        remedy="remove it from one of the two",
        column=column,
    )


def k_too_large_error(k: int, counted: object) -> InfeasibleError:
    """Return the error for a k that is larger than the number of people."""
    return InfeasibleError(
        "k ({k}) is larger than the number of {whom}",
        remedy="lower k, or weaken the other requirements",
        k=k,
        whom=counted,
    )


def every_row_suppressed_error() -> InfeasibleError:
    """Return the error for requirements that would suppress every row."""
    return InfeasibleError(
        "these demands would suppress every row",
        remedy=("lower k, or weaken the other requirements"),
    )
