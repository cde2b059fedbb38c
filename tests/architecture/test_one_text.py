"""One text per value: only `schema/values.py` turns what a table holds into text.

Two spellings of one value were the root of attacks: an id "1" and an id 1.0 were two
people, and a person could change how the rows of others were counted. So every
conversion in the library is found with `ast`, and listed here with what it converts: a
name, a declared fact, an argument, something of ours. Never a value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.modules import core, name_of, nodes

HOLDER = "dpcore.schema.values"
MAKERS = {"map", "apply", "astype", "array", "asarray", "Series"}
TYPES = {"str", "string", "U"}
ALLOWED: dict[str, dict[str, set[str]]] = {
    "names of columns": {
        "anonymization.hierarchies.hierarchy": {"str(series.name)"},
        "anonymization.hierarchies.suggest": {"str(series.name)"},
        "io.workbooks": {"str(name)", "repr(best)"},
        "engines.linked": {"str(column.name)"},
        "io.xlsx": {"str(name)", "str(column.name)"},
        "io.read": {"pd.Series(names, dtype='str')"},
        "schema.detector": {"str(name)"},
        "schema.domain": {"map(repr, self.names)"},
        "schema.numbers": {"str(base['name'])"},
        "schema.unit": {"map(str, self.id_column)"},
        "schema.suggest": {"str(name)"},
        "schema.table": {"str(name)", "str(part)"},
        "model": {"map(repr, model.columns)"},
        "synthesis.discrete._workload": {"map(repr, names)"},
        "tables.digests": {"str(name)", "str(column.name)", "map(str, frame.columns)"},
        "tables.ranks": {"map(str, frame.columns)"},
    },
    "public facts of a declaration": {
        "engines.sql.postgres": {"str(value)"},
        "schema.column": {
            "str(category)",
            "map(str, self.categories)",
            "str(value)",
            "pd.array([str(value) for value in values], dtype='str')",
            "pd.array([self.false_label, self.true_label], dtype='str')",
        },
        "schema._derived": {"pd.array(texts, dtype='str')"},
        "schema.date": {
            "str(getattr(self, label))",
            "day.isoformat()",
            "str(np.datetime64(int(bound), 'D'))",
        },
        "schema.interval": {"str(a)"},
        "io.workbooks": {"str(label)"},
        # to whole years, named as from the data
        "schema.suggest": {"str(days.min())", "str(days.max())"},
        "synthesis.release.row_count": {"str(label)"},
        "synthesis.discrete.suggested": {"str(_EDUCATION_LEVELS.index(label) + 1)"},
    },
    "arguments, and errors of libraries": {
        "accounting.loss": {"str(value)"},
        "evaluation.utility.private": {"str(self.way)"},
        "evaluation.utility.range_queries": {
            "datetime.date.fromisoformat(bound).isoformat()"
        },
        "io._lines": {"str(error)"},
        "io.options": {"map(repr, allowed)"},
        # labels of the codes of SPSS and Stata
        "io.workbooks": {"str(label)"},
        "local._question": {"str(protocol)"},
        "evaluation.table.rows_of_people": {"str(QUANTILE_ORDER)"},
    },
    "losses, models, guarantees, sizes, dates of lines": {
        "anonymization.plan": {"map(str, self.models)"},
        "accounting.events": {"str(self.delta)"},
        "accounting.ledger": {"datetime.now(UTC).isoformat(timespec='seconds')"},
        "accounting.loss": {"str(getattr(loss, name))"},
        "curator.curator": {
            "str(spend.amount)",
            "datetime.now(UTC).isoformat(timespec='seconds')",
        },
        "evaluation.attacks._singling_out": {"str(rng.choice(hows))"},
        "io._lines": {"str(place)"},
        "local._question": {"str(self.epsilon)"},
        "mechanisms._selection": {"str(i)"},
        "release": {"str(delta)", "str(schema.unit)"},
        # a fraction, and a kind
        "synthesis.base": {"str(value)", "str(fields['kind'])"},
        "suppression.published": {"str(cell)", "str(count)"},
        "synthesis.closeness": {"str(loss)"},
        "synthesis.release.pooling": {
            "str(together((sum((Fraction(loss[name]) for loss in losses)) for "
            "losses in paid)))"
        },
        "synthesis.release.read": {"str(describe_recipe(release.recipe))"},
        "synthesis.discrete.model": {"str(loss.amount)"},
    },
    "texts of `values` already, given their Python type": {
        "anonymization.hierarchies.builders": {"pd.Series(distinct, dtype='str')"},
        "anonymization.partition.mondrian": {"str(labels[0])", "str(labels[low])"},
        "engines.work": {"str(text)"},
        "evaluation._records": {"texts[unread].astype('str')"},
    },
    "numbers of digits": {"risk.identifiers": {"str(low)", "str(high)"}},
    (
        "the order of published rows, in which equal texts of unlike values must not "
        "be "
        "equal"
    ): {
        "anonymization.apply": {"column.astype('str')"},
    },
    "a cell of a public table, on its way into a workbook": {
        "io.xlsx": {
            "str(cell)",
            "str(number)",
            "moment.date().isoformat()",
            "moment.isoformat(' ')",
        },
    },
    "a cell of a file, on its way to being a value": {
        "io._dates": {
            "day.isoformat()",
            "moment.date().isoformat()",
            "moment.isoformat(' ')",
        },
        "io.workbooks": {
            "str(cell)",
            "repr(cell)",
            "str(int(cell))",
            "cell.date().isoformat()",
            "cell.isoformat(' ')",
        },
    },
}


def conversions(tree: ast.Module) -> Iterator[str]:
    """The source of every call that makes text of something else."""
    for node in nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        name = (
            function.attr
            if isinstance(function, ast.Attribute)
            else ast.unparse(function)
        )
        spelled = (
            ast.unparse(each).strip("'\"").removeprefix("np.").removesuffix("_")
            for each in given
        )
        if (
            (
                name in ("str", "repr", "ascii", "format")
                and isinstance(function, ast.Name)
                and given
            )
            or (name in MAKERS and {*TYPES, "repr"} & {*spelled})
            or name in ("isoformat", "strftime", "datetime_as_string", "to_string")
        ):
            yield ast.unparse(node)


def test_values_become_text_in_one_place() -> None:
    """A second spelling of a value would be a second person, category or hash."""
    found = {
        (name_of(path).removeprefix("dpcore."), source)
        for path, tree in core().items()
        if name_of(path) != HOLDER
        for source in conversions(tree)
    }
    allowed = {
        (module, source)
        for modules in ALLOWED.values()
        for module, sources in modules.items()
        for source in sources
    }
    assert found - allowed == set(), (
        "convert with dpcore.schema.values, or say here what this is"
    )
    assert allowed - found == set(), "no longer there"


@pytest.mark.parametrize(
    "planted",
    [
        "ids = frame['id'].astype(str)",
        "ids = frame['id'].astype('string')",
        "ids = frame['id'].map(str)",
        "ids = frame['id'].apply(repr)",
        "ids = list(map(str, frame['id']))",
        "ids = [str(each) for each in frame['id']]",
        "ids = np.asarray(frame['id'], dtype='U')",
        "ids = np.array(frame['id'], dtype=np.str_)",
        "days = [day.isoformat() for day in frame['day']]",
        "days = frame['day'].dt.strftime('%Y')",
    ],
)
def test_a_planted_conversion_is_seen(planted: str) -> None:
    """A search that finds nothing would forbid nothing."""
    assert list(conversions(ast.parse(planted)))


def test_what_converts_nothing_is_left_alone() -> None:
    """A search that finds everything would be turned off."""
    plain = (
        "texts(column)\nframe.astype('int64')\nisinstance(name, str)\nnp.array([1], "
        "dtype='int64')\nstr()"
    )
    assert list(conversions(ast.parse(plain))) == []
