"""The Tables page: three clicks from an open table to a safe one in a file."""

from __future__ import annotations

import pytest

from tests.pages.tab import Tab
from tests.pages.test_links import answering as answering
from workbench import session
from workbench.tables.state import TablesState

PEOPLE = "\n".join(
    [
        "region,sex",
        *(
            f"{region},{sex}"
            for region, women, men in (
                ("north", 60, 50),
                ("south", 40, 45),
                ("east", 33, 28),
                ("isle", 3, 14),
            )
            for sex in ["F"] * women + ["M"] * men
        ),
    ]
).encode()


def make_table(app: Tab) -> Tab:
    """Say that the values of the columns are no secret if asked; make the table."""
    if app.button("Make the table").disabled:
        app.set("checkbox", "Everybody may know which values", True)
    return app.press("Make the table")


def test_lines_that_show_which_values_occur_need_the_owners_word(app: Tab) -> None:
    """A rare value would be seen even if its count is hidden."""
    ages = b"".join(
        b"%d,%s\n" % (20 + at % 7, b"FM"[at % 2 :][:1]) for at in range(200)
    )
    app.open(b"age,sex\n" + ages).go("tables")
    assert app.button("Make the table").disabled
    assert app.at.checkbox[-1].label.endswith("these columns have: age")
    app.set("checkbox", "Everybody may know which values", True)
    assert not app.button("Make the table").disabled


def test_from_an_open_table_to_a_safe_one(app: Tab) -> None:
    """Make, accept, download: nothing leaves before it is accepted, and the noise that
    would do the same is named beside it.
    """
    app.open(PEOPLE).go("tables")
    assert not app.errors
    make_table(app)
    assert not app.errors
    current = app.session.own(TablesState)
    assert current.made_tables is not None
    made = current.made_tables.content[0]
    assert made.reasons
    assert "What this does not promise" in app.text
    assert "Put them on a list" in app.text
    assert "people of the truth" in app.text
    assert not app.at.get("download_button")
    assert app.curator.exact_tables() == []
    app.press("Accept and publish")
    assert not app.errors
    assert app.curator.exact_tables() == [made.published]
    assert "Put them on a list" not in app.text
    assert len(app.at.get("download_button")) == 6
    app.go("ledger")
    assert "Exact tables of counts" in app.text


def test_a_third_column_splits_each_row(app: Tab) -> None:
    """Rows are pairs of groups; the file has both labels, and the totals of each."""
    lines = PEOPLE.decode().splitlines()
    ages = [f"{line},{'oy'[at % 2]}" for at, line in enumerate(lines[1:])]
    app.open("\n".join(["region,sex,age", *ages]).encode()).go("tables")
    app.set("selectbox", "Rows", "region").set("selectbox", "Columns", "age")
    make_table(app.set("selectbox", "Split each row by", "sex"))
    assert not app.errors
    current = app.session.own(TablesState)
    assert current.made_tables is not None
    table = current.made_tables.content[0].published
    assert table.layout.columns == ("region", "sex", "age")
    counts = [line.split(",") for line in ages]
    both = {("north", "F", "o"), ("north", "Total", "Total"), ("Total", "M", "y")}
    for labels in both:
        assert table.counts[table.layout.find_cell(labels)] == sum(
            all(
                label in ("Total", own) for label, own in zip(labels, line, strict=True)
            )
            for line in counts
        )
    app.press("Accept and publish")
    assert not app.errors
    heading = current.published_tables[0].to_csv().splitlines()[0]
    assert heading == "region,sex,Total,o,y"


def test_all_counts_are_rounded_if_asked(app: Tab) -> None:
    """The page says the error before, and the link and the files show what it shows."""
    app.open(PEOPLE).go("tables")
    app.set("selectbox", "Rule", "nhs")
    assert "small ones are missing, and the others" in app.text
    app.set("radio", "Protect by", "rounding")
    assert "up to 9 people off, about 3 on average" in app.text
    make_table(app)
    assert not app.errors
    current = app.session.own(TablesState)
    assert current.made_tables is not None
    (made,) = current.made_tables.content
    assert (made.published.rounding_base, made.reasons) == (10, {})
    assert "every count is within 9 people of the truth" in app.text
    assert "What was checked" in [one.label for one in app.at.expander]
    app.set("number_input", "Round to multiples of", 20)
    assert "made under earlier settings" in app.text
    app.set("number_input", "Round to multiples of", 10)
    app.press("Accept and publish")
    assert not app.errors
    assert app.curator.exact_tables() == [made.published]
    assert len(app.at.get("download_button")) == 6
    app.press("Show it to somebody").go("links")
    assert "each at most 9 people off" in app.text
    app.go("tables").set("radio", "Protect by", "hiding")
    assert "this table is refused: rounded counts of different people" in app.text
    app.go("ledger")
    notes = "".join(one.value.to_csv() for one in app.at.dataframe)
    assert "table rounded to multiples of 10 published: region, sex" in notes


def test_a_rule_that_hides_everything_is_said_in_place(app: Tab) -> None:
    app.open(PEOPLE).go("tables").set("selectbox", "Rule", "own")
    make_table(app.set("number_input", "Fewest people", 9_000))
    assert "fewer people than the rule requires" in app.errors
    assert app.session.own(TablesState).made_tables is None


def test_a_published_table_is_shown_by_a_link(app: Tab, answering: None) -> None:
    """A page for people without the table: title, box and files, and no button before
    the box was read.
    """
    make_table(app.open(PEOPLE).go("tables")).press("Accept and publish")
    app.press("Show it to somebody").go("links")
    assert "What this does not promise" in app.text
    assert app.button("Make the link").disabled
    app.at.checkbox(key="links-understood").check().run()
    app.set("text_input", "Title", "People by region")
    assert "People by region" in app.framed
    assert "fewer people than the rule requires" not in app.framed
    app.press("Make the link")
    token = app.at.code[0].value.rpartition("/share/")[2]
    shares = session.shares()
    found = shares.page_of(shares.open(token, None) or "").exact_table()
    (table,) = app.curator.exact_tables()
    assert found is not None
    assert (found.counts, found.title) == (table.counts, table.title)


def test_rows_that_were_coded_wrong_do_not_block_a_table(app: Tab) -> None:
    """The refusal says how many they are, and one button says that they are errors."""
    rows = [
        f"{town},{district}"
        for town, district, people in (
            ("A", "D1", 60),
            ("B", "D1", 55),
            ("C", "D2", 70),
            ("E", "D2", 45),
            ("E", "D1", 2),
        )
        for _ in range(people)
    ]
    app.open("\n".join(["town,district", *rows]).encode()).go("tables")
    app.set("selectbox", "Columns", "")
    make_table(app).press("Accept and publish")
    assert not app.errors
    app.set("selectbox", "Rows", "district").set("selectbox", "Columns", "")
    make_table(app)
    assert "rare pair of values" in app.errors
    assert "2 people have a rare pair of town and district" in app.text
    app.press("Rows whose town lies in another district are errors")
    assert not app.errors
    current = app.session.own(TablesState)
    assert current.made_tables is not None
    made = current.made_tables.content[0]
    assert None not in made.published.counts
    assert made.plan.miscoded == (("town", "district"),)
    assert "rows whose town lies in another district are errors of coding" in app.text
    app.press("Accept and publish")
    assert not app.errors
    app.press("These rows are no errors")
    assert app.session.own(TablesState).miscoded == set()


def test_accounts_about_the_same_people_are_attacked_together(app: Tab) -> None:
    """The owner says so on the page; then the other account's table counts."""
    make_table(app.open(PEOPLE).go("tables")).press("Accept and publish")
    first = app.session.current_dataset
    more = PEOPLE.replace(b"region", b"area")
    app.go("upload").press("Open another table").upload(more, "areas.csv")
    app.open_draft().go("tables")
    assert app.session.current_dataset != first
    assert "checked together" not in app.text
    app.set("multiselect", "Your other data sets about the same people", [first])
    app.press("These data sets are about the same people")
    assert "region × sex (people.csv)" in app.text.replace("\\", "")
    make_table(app)
    # the map of areas and regions is not in this file
    assert "pen a file that has all these columns" in app.errors
    app.set(
        "checkbox", "These columns have nothing to do with this table: region", True
    )
    make_table(app)
    assert not app.errors
    assert "nothing to do with this table: region" in app.text
    current = app.session.own(TablesState)
    assert current.made_tables is not None
    assert current.made_tables.content[0].earlier_tables == (
        "region × sex (people.csv)",
    )
    assert "together with 1 earlier exact table about the same people" in app.text


def test_an_exception_needs_a_reason_and_stands_below_the_table(app: Tab) -> None:
    """A cell would be shown that the rule hides, and nobody would say why."""
    make_table(app.open(PEOPLE).go("tables"))
    made = app.session.own(TablesState).made_tables
    assert made is not None
    layout = made.content[0].published.layout
    cell = layout.find_cell(("isle", "F"))
    assert made.content[0].reasons[cell] == "small"
    app.set("selectbox", "Show one of them all the same", cell)
    assert app.button("Make the table with this exception").disabled
    app.set("text_input", "Why nobody is given away", "they all have said so in public")
    app.press("Make the table with this exception")
    assert not app.errors
    again = app.session.own(TablesState).made_tables
    assert again is not None
    assert again.content[0].published.counts[cell] == 3
    assert "isle × F. they all have said so in public" in app.text.replace("\\", "")
    app.press("Make the table")
    made = app.session.own(TablesState).made_tables
    assert made is not None
    assert made.content[0].published.counts[cell] is None


def test_a_plan_makes_its_table_again(app: Tab) -> None:
    """The recipe of the command and the page is one."""
    make_table(app.open(PEOPLE).go("tables"))
    made = app.session.own(TablesState).made_tables
    assert made is not None
    plan = made.content[0].plan
    (field,) = app.at.file_uploader
    field.upload("plan.json", plan.to_json().encode(), "application/json").run()
    app.press("Make the table of the plan")
    assert not app.errors
    again = app.session.own(TablesState).made_tables
    assert again is not None
    assert again is not made
    assert again.content[0].published == made.content[0].published
    (field,) = app.at.file_uploader
    field.upload("plan.json", b"{}", "application/json").run()
    assert app.errors


TOWNS = "\n".join(
    [
        "town,district,region,sex",
        *(
            f"{town},{district},{region},{sex}"
            for town, district, region, people in (
                ("Au", "A", "west", 30),
                ("Berg", "A", "west", 7),
                ("Cham", "B", "west", 41),
                ("Dorf", "C", "east", 25),
                ("Egg", "C", "east", 33),
            )
            for sex in ["F", "M"] * people
        ),
    ]
).encode()


def test_towns_lie_within_districts_and_regions(app: Tab) -> None:
    """A district of one town, or a region of one district, is no line of its own."""
    app.open(TOWNS).go("tables")
    app.set("selectbox", "Rows", "town").set("selectbox", "Columns", "sex")
    app.set("multiselect", "town lies within", ["district", "region"])
    public = app.at.checkbox[-1].label
    assert "town within district within region" in public, "readers see it"
    make_table(app)
    assert not app.errors
    made = app.session.own(TablesState).made_tables
    assert made is not None
    layout = made.content[0].published.layout
    labels = [group.label for group in layout.axes[0].groups]
    assert labels == ["Total", "east", "Dorf", "Egg", "west", "A", "Au", "Berg", "B"]
    assert made.content[0].true_counts[0] == 272
    assert made.content[0].published.counts[layout.find_cell(("Berg", "F"))] is None
    assert "sex" not in app.at.multiselect[0].options


def choose(app: Tab, rows: str, columns: str) -> Tab:
    app.set("selectbox", "Rows", rows).set("selectbox", "Columns", columns)
    return app


def test_several_tables_are_made_and_published_together(app: Tab) -> None:
    """Either all are noted in the ledger, or none."""
    app.open(TOWNS).go("tables")
    choose(app, "district", "").press("Add another table")
    choose(app, "town", "").press("Add another table")
    assert app.button("Add another table").disabled
    choose(app, "sex", "district")
    current = app.session.own(TablesState)
    assert len(current.listed) == 2
    app.press("Make the tables")
    assert not app.errors
    assert current.made_tables is not None
    titles = [one.published.title for one in current.made_tables.content]
    assert titles == ["district", "town", "sex × district"]
    assert app.curator.exact_tables() == []
    app.set("selectbox", "Table", 2)
    assert "Fewest" not in app.text
    app.press("Accept and publish all 3 tables")
    assert not app.errors
    published = app.curator.exact_tables()
    assert [table.title for table in published] == titles
    assert {table.bundled for table in published} == {2}
    assert "attacked together with 2 other exact tables" in app.text
    assert len({table.bundle for table in published}) == 1
    assert current.listed == []
    assert len(app.at.get("download_button")) == 6


def test_a_table_is_taken_from_the_list(app: Tab) -> None:
    app.open(TOWNS).go("tables")
    choose(app, "district", "").press("Add another table")
    choose(app, "sex", "").press("Remove")
    assert app.session.own(TablesState).listed == []
    app.press("Make the table")
    made = app.session.own(TablesState).made_tables
    assert made is not None
    assert [one.published.title for one in made.content] == ["sex"]


def test_tables_of_a_list_are_refused_if_another_tab_published_meanwhile(
    app: Tab,
) -> None:
    """Nothing of the list is published."""
    app.open(TOWNS).go("tables")
    choose(app, "district", "").press("Add another table")
    choose(app, "sex", "").press("Make the tables")
    assert app.session.own(TablesState).made_tables is not None
    right = app.curator.ledger.note_all

    def note_late(dataset: str, notes: dict[str, dict[str, object]]) -> None:
        """The other tab takes the number of the second table."""
        app.curator.ledger.note(dataset, [*notes][1], {})
        right(dataset, notes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(app.curator.ledger), "note_all", staticmethod(note_late))
        app.press("Accept and publish all 2 tables")
    assert app.errors
    assert app.curator.exact_tables() == []
    assert app.session.own(TablesState).published_tables == ()


PAID = "\n".join(
    [
        "region,sex,pay,weight",
        *(
            f"{region},{sex},{20 + at * 7 % 50},{1 + at % 3 / 2}"
            for region, people in (("north", 70), ("south", 60), ("isle", 15))
            for at in range(people)
            for sex in ["FM"[at % 4 == 0]]
        ),
    ]
).encode()


def test_published_tables_stay_on_the_page(app: Tab) -> None:
    """Files of a published table could be had nowhere after the next choice."""
    app.open(PAID).go("tables")
    make_table(app)
    app.press("Accept and publish")
    app.set("selectbox", "Columns", "sex")
    assert "earlier settings" not in app.text
    assert len(app.at.get("download_button")) == 6
    make_table(app)
    assert len(app.at.get("download_button")) == 4
    assert app.at.selectbox(key="tables-published").options == ["region × sex"]
