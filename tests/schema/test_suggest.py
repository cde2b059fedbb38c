"""Suggestions: a reason for each guess, a mark on what came from the data, names left
out.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import pandas as frames
from scipy import stats

import dpcore as dp
from dpcore.io import read_table
from dpcore.schema import Column, OutsideCounts, Schema
from tests.tiers import examples


def suggested(**columns: object) -> dict[str, Column]:
    return {
        column.name: column
        for column in dp.suggest_schema(pd.DataFrame(columns)).columns
    }


def left_out(schema: Schema) -> set[str]:
    return {column.name for column in schema.excluded}


def test_adult(shared: Path) -> None:
    """The real table: kinds, `?` as missing, a reason for all, a mark on every fact
    that was read off.
    """
    frame = pd.read_csv(shared / "data" / "adult.csv")
    schema = dp.suggest_schema(frame)
    assert [column.name for column in schema.columns] == list(frame.columns)
    columns = {column.name: column for column in schema.columns}
    for name in ("workclass", "occupation", "native-country"):
        assert columns[name].missing
        assert columns[name].missing_tokens == (), (
            "a rule says it, whichever of its words occur"
        )
        assert columns[name].encode(pd.Series(["?"])).tolist() == [
            columns[name].values_size
        ]
        assert "?" not in columns[name].categories
    assert isinstance(columns["age"], dp.Integer)
    assert (columns["age"].low, columns["age"].high, columns["age"].from_data) == (
        0,
        119,
        ("kind",),  # not the bounds, which every age has
    )
    for column in schema.columns:
        assert column.reason
        if isinstance(column, dp.Categorical):
            assert set(column.from_data) == {"categories", "kind", "ordered"}
        elif column.name != "age":
            assert set(column.from_data) >= {"low", "high"}
        assert column.check(frame[column.name]).clipped == 0
    assert schema.unit == dp.PrivacyUnit(max_rows=1)
    assert dp.Schema.from_json(schema.to_json()) == schema


def test_what_one_person_can_change_is_marked() -> None:
    """A fact that follows the data and is not marked is told by every guarantee as
    known from outside.
    """
    base = {
        "visit": ["2012-03-01"] * 50 + ["2021-12-30"] * 50,
        "age": [20, 89] * 50,
        "score": [float(number % 7) for number in range(100)],
        "case_no": [*range(99), 0],
        "sex": ["F", "M"] * 50,
    }
    others = (
        {"visit": "2022-03-05"},  # a longer range of dates brings another step
        {"age": 121},
        {"age": -3},
        {"score": 3.5},
        {"score": "?"},
        {"score": "word"},
        {"score": "<0.5"},
        {"score": "k.A."},
        {"visit": "2020-02-31"},
        {"case_no": 500},
        {"sex": None},
        {"sex": "X"},
    )
    one = {"visit": "2020-01-01", "age": 50, "score": 3.0, "case_no": 100, "sex": "F"}
    before = dp.suggest_schema(
        pd.DataFrame({name: [*values, one[name]] for name, values in base.items()})
    )
    for other in others:
        person = {**one, **other}
        frame = pd.DataFrame(
            {name: [*values, person[name]] for name, values in base.items()}
        )
        after = dp.suggest_schema(frame)
        (changed,) = other
        columns = [
            {column.name: column for column in schema.columns}
            for schema in (before, after)
        ]
        if any(changed not in each for each in columns):
            continue  # left out in one of the two: marked below
        old, new = (each[changed] for each in columns)
        if old.kind != new.kind:
            assert "kind" in old.from_data
            continue
        for field in dataclasses.fields(old):
            if field.compare and field.name != "from_data":
                same = getattr(old, field.name) == getattr(new, field.name)
                assert same or field.name in old.from_data, (changed, field.name)
    assert all(column.from_data for column in before.columns)
    assert (
        before.unit == after.unit == dp.PrivacyUnit(max_rows=1, id_column="case_no")
    ), "named by its name"


def test_a_schema_file_holds_no_reason() -> None:
    """Why a column was left out, or how it was read, tells what the data held; that it
    was left out is marked, as one person may have been the reason.
    """
    frame = pd.DataFrame(
        {"x": [1, 2, 3, 4] * 30, "cases": range(120), "diagnosis": [None] * 120}
    )
    schema = dp.suggest_schema(frame)
    assert all(column.reason for column in (*schema.columns, *schema.excluded))
    text = schema.to_json()
    assert "reason" not in text
    read = dp.Schema.from_json(text)
    assert read.from_data == schema.from_data
    assert [(each.name, each.from_data) for each in read.excluded] == [
        ("cases", ("left out",)),
        ("diagnosis", ("left out",)),
    ]
    assert read.left_out == schema.left_out == schema.without_private_texts().excluded


def test_every_kind() -> None:
    """Each kind of column must be seen for what it is."""
    found = suggested(
        flag=[True, False] * 15,
        answer=["yes", "no"] * 15,
        day=["2020-01-31", "2021-06-30"] * 15,
        stamp=pd.to_datetime(["1950-01-31", "2021-06-30"] * 15),
        height=[1.75 + place / 1000 for place in range(30)],
        children=[0, 1, 3] * 10,
        salary=[1_000 * place for place in range(30)],
        code=[10, 20_000, 456] * 10,
        label=[-1, 1] * 15,
        zip=["01234", "99999"] * 15,
    )
    kinds = {name: column.kind for name, column in found.items()}
    assert kinds == {
        "flag": "boolean",
        "answer": "boolean",
        "day": "date",
        "stamp": "date",
        "height": "real",
        "children": "integer",
        "salary": "integer",
        "code": "categorical",
        "label": "categorical",
        "zip": "categorical",
    }
    assert found["zip"].categories == ("01234", "99999")  # a number would lose its zero
    assert (found["day"].low, found["day"].high, found["day"].step) == (
        "2020-01-01",
        "2021-12-31",
        "month",
    )
    assert found["stamp"].step == "decade"
    assert found["salary"].size <= 101
    assert all(column.reason for column in found.values())


def test_names_and_numbers_of_people_are_left_out() -> None:
    """A name, or a number for each person or row, must not be offered for release."""
    rows = 300
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "patient_id": np.arange(rows) // 3,
            "record_no": np.arange(rows),
            "id": [f"{i:05d}" for i in range(rows)],
            "ward": ["a", "b", "c"] * (rows // 3),
        },
    )
    schema = dp.suggest_schema(frame)
    assert [column.name for column in schema.columns] == ["ward"]
    assert left_out(schema) == {"name", "patient_id", "record_no", "id"}
    assert all(column.reason for column in schema.excluded)
    assert schema.unit == dp.PrivacyUnit(max_rows=1, id_column="patient_id")
    dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )


def test_all_missing_column() -> None:
    """A column without a value has no kind; the others must not suffer."""
    schema = dp.suggest_schema(
        pd.DataFrame(
            {"empty": [None] * 5, "blank": ["", "?", "", "", ""], "n": [1, 2, 3, 4, 5]}
        ),
    )
    assert [column.name for column in schema.columns] == ["n"]
    assert left_out(schema) == {"empty", "blank"}
    with pytest.raises(dp.SchemaError, match="no column"):
        dp.suggest_schema(pd.DataFrame({"empty": [None] * 5}))


def test_one_row() -> None:
    """One row is a table too."""
    frame = pd.DataFrame(
        {"n": [3], "x": [0.5], "t": ["a"], "d": ["2020-02-02"], "b": [True]}
    )
    schema = dp.suggest_schema(frame)
    assert schema.encode(frame)["n"].tolist() == [0]


def test_no_rows_and_doubled_columns() -> None:
    """A header without rows, or with a name twice, has a message of its own."""
    with pytest.raises(dp.SchemaError):
        dp.suggest_schema(pd.DataFrame({"a": [], "b": []}))
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(dp.SchemaError, match="more than one column 'a'"):
        dp.suggest_schema(twice)


def test_many_texts_are_left_out() -> None:
    """A column of 50,000 different texts must be left out with a reason, not listed."""
    frame = pd.DataFrame({"t": [f"t{i % 50_000}" for i in range(150_000)], "n": 1})
    schema = dp.suggest_schema(frame)
    assert left_out(schema) == {"t"}


@examples(60)
@given(
    frames.data_frames(
        [
            frames.column("i", dtype="int64"),
            frames.column("x", elements=st.floats(allow_nan=True, allow_infinity=True)),
            frames.column(
                "small", elements=st.floats(min_value=-1e-12, max_value=1e-12)
            ),
            frames.column("t", elements=st.text(max_size=4) | st.none()),
            frames.column(
                "few", elements=st.sampled_from(["a", " a", "?", "", "NA", None])
            ),
            frames.column(
                "mixed",
                elements=st.sampled_from([1, "1", 1.0, True, None, "2020-01-01", "x"]),
            ),
        ],
        index=frames.range_indexes(min_size=1, max_size=30),
    ),
)
def test_a_suggestion_always_fits_its_table(frame: pd.DataFrame) -> None:
    """Whatever the table, what is suggested must accept it: no crash, no value without
    a cell.
    """
    try:
        schema = dp.suggest_schema(frame)
    except dp.SchemaError:
        return
    codes = schema.encode(frame)
    assert all(
        (codes[name] >= 0).all() and (codes[name] < schema.domain.size(name)).all()
        for name in codes
    )
    assert all(
        column.check(frame[column.name]).clipped == 0 for column in schema.columns
    )
    assert left_out(schema) | set(codes) == set(frame.columns)
    assert dp.Schema.from_json(schema.to_json()) == schema


def hospital(rows: int = 1_000) -> pd.DataFrame:
    """Cells as a German hospital exports them, after reading: odd ones among dates and
    measurements.
    """
    birth = [f"19{30 + place % 60}-0{1 + place % 9}-15" for place in range(rows)]
    birth[7:17] = ["00.00.1950"] * 10
    crp = [f"{place % 80 + 0.5}" for place in range(rows)]
    crp[20:30], crp[40:50] = ["k.A."] * 10, ["<0,5"] * 10
    weight = [f"{50 + place % 60}.5" for place in range(rows)]
    weight[100] = ">200"
    status = [
        ["geheilt", "tot", "Unbekannt", "keine Angabe"][place % 4]
        for place in range(rows)
    ]
    return pd.DataFrame(
        {"birth": birth, "crp": crp, "weight": weight, "status": status}
    )


def test_the_kind_is_that_of_most_values() -> None:
    """Ten impossible dates of a thousand, or 1 % "k.A.", threw their columns away."""
    frame = hospital()
    schema = dp.suggest_schema(frame)
    columns = {column.name: column for column in schema.columns}
    assert {name: column.kind for name, column in columns.items()} == {
        "birth": "date",
        "crp": "real",
        "weight": "real",
        "status": "categorical",
    }
    assert columns["birth"].check(frame["birth"]) == OutsideCounts(missing=10)
    crp = columns["crp"]
    weight = columns["weight"]
    assert isinstance(crp, dp.Real)
    assert isinstance(weight, dp.Real)
    assert (crp.missing_tokens, crp.synonyms) == ((), ()), (
        "texts of the table would be in its schema"
    )
    cells = crp.encode(frame["crp"])
    assert crp.labels[cells[45]] == "0.25"
    assert (cells == cells[45]).sum() == 10
    assert weight.labels[weight.encode(frame["weight"])[100]] == "200"
    assert columns["status"].missing_tokens == ()
    assert columns["status"].labels == ("geheilt", "tot", "Unbekannt", "(missing)")
    assert set(crp.from_data) == {
        "kind",
        "low",
        "high",
        "bin_width",
        "cuts",
        "special",
        "decimals",
    }
    assert dp.Schema.from_json(schema.to_json()) == schema
    # one text that recurs is a mark for missing, many are another kind
    frame.loc[:30, "birth"] = "no day"
    assert dp.suggest_schema(frame).column("birth").kind == "date"
    frame.loc[:30, "birth"] = [f"no day {place % 7}" for place in range(31)]
    assert dp.suggest_schema(frame).column("birth").kind == "categorical"


@pytest.mark.parametrize(
    "word",
    [
        "k.A.",
        "keine Angabe",
        "unbekannt",
        "sans réponse",
        "不详",
        ".",
        "Sin respuesta",
        "N/A",
    ],
)
def test_words_for_missing_in_many_languages(word: str) -> None:
    """What everybody reads as "no value" would be a category of its own, or make a
    column unreadable; "unknown" alone is an answer among answers.
    """
    frame = pd.DataFrame(
        {
            "n": [*(f"{place}.5" for place in range(99)), word],
            "t": ["a", "b", word, "c"] * 25,
        },
    )
    found = {column.name: column for column in dp.suggest_schema(frame).columns}
    assert found["n"].kind == "real"
    assert [column.missing_tokens for column in found.values()] == [(), ()]
    assert found["n"].check(frame["n"]) == OutsideCounts(missing=1)
    is_answer = word in ("unbekannt", "不详")
    assert found["t"].check(frame["t"]) == OutsideCounts(missing=0 if is_answer else 25)
    said = (word,) if is_answer else ()
    assert found["t"].labels == ("a", "b", "c", *said, "(missing)")


@pytest.mark.parametrize("pair", [(0, 1), (-1, 1), (1, 2), (0.5, 1.5)])
def test_two_different_numbers_are_classes(pair: tuple[float, float]) -> None:
    """Labels -1 and 1 were whole numbers with an empty cell for 0, and nothing could be
    classified.
    """
    label = suggested(label=list(pair) * 50)["label"]
    assert label.kind == "categorical"
    assert label.labels == (*map(str, pair), "(missing)")


def test_an_odd_cell_among_classes_is_missing() -> None:
    """One word among labels 0 and 1, or among codes, ended in a traceback, or made a
    cell for itself.
    """
    frame = pd.DataFrame(
        {
            "label": ["0", "1"] * 99 + ["dead", "1"],
            "zip": ["33617", "23622", "101"] * 66 + ["3362*"] * 2,
        },
    )
    label, code = dp.suggest_schema(frame).columns
    assert label.labels == ("0", "1", "(missing)")
    assert code.labels == ("101", "23622", "33617", "(missing)")
    assert label.check(frame["label"]) == OutsideCounts(missing=1)


def test_few_numbers_far_apart_are_listed() -> None:
    """Ten different values of the book's measurements had 109 cells, of which 99 were
    empty but for noise.
    """
    tenths = [-1, -0.7778, -0.5556, -0.3333, -0.1111, 0.1111, 0.3333, 0.5556, 0.7778, 1]
    columns = suggested(
        code=[101, 5_000, 77_000] * 100,
        measure=tenths * 30,
        wide=list(range(0, 3000, 10)),
    )
    assert columns["code"].labels == ("101", "5000", "77000", "(missing)")
    assert isinstance(columns["measure"], dp.Real)
    assert columns["measure"].special == tuple(tenths)
    assert columns["measure"].values_size == 19
    assert columns["wide"].kind == "integer"


@pytest.mark.parametrize("first", [0, 1])
def test_a_running_number_is_left_out(first: int) -> None:
    """The number of a row names its person, whatever the column is called."""
    shuffled = np.random.default_rng(1).permutation(200) + first
    frame = pd.DataFrame(
        {"lfd": shuffled, "year": 2000 + np.arange(200), "day": np.arange(200) % 100}
    )
    schema = dp.suggest_schema(frame)
    assert left_out(schema) == {"lfd"}


def test_a_running_number_that_few_rows_repeat_is_left_out() -> None:
    """A register in which eight people are there twice would publish their numbers."""
    frame = pd.DataFrame(
        {
            "patient": [*range(1, 201), *range(8)],
            "often": [*range(1, 191), *range(1, 19)],  # 9 % of the rows
            "gap": [*range(1, 200), *range(210, 219)],
        }
    ).replace({"patient": {0: 200}})
    schema = dp.suggest_schema(frame)
    assert left_out(schema) == {"patient"}


def test_a_number_with_decimals_is_no_personal_number() -> None:
    """A measurement whose name ends in id would name people, or not, as one of its
    values says.
    """
    frame = pd.DataFrame(
        {"sample_id": np.arange(300) // 2 / 64 - 1.2, "x": np.arange(300) % 7}
    )
    schema = dp.suggest_schema(frame)
    assert schema.unit == dp.PrivacyUnit(max_rows=1, id_column="sample_id")
    with pytest.raises(dp.SchemaError, match="numbers with a point"):
        dp.Curator.open(
            frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
        )


def off(numbers: np.ndarray) -> tuple[float, Column]:
    """The largest distance of the distributions before and after encoding and decoding,
    and the column.
    """
    frame = pd.DataFrame({"x": numbers})
    (column,) = dp.suggest_schema(frame).columns
    decoded = column.decode(column.encode(frame["x"]), np.random.default_rng(2))
    return float(
        stats.ks_2samp(numbers, pd.Series(decoded).astype(float)).statistic
    ), column


@pytest.mark.parametrize("whole", [False, True])
def test_a_heavy_tail_keeps_its_shape(whole: bool) -> None:
    """Cells of one width up to the largest income would put nearly all people into the
    first.
    """
    rng = np.random.default_rng(1)
    incomes = rng.lognormal(10.5, 1.2, 20_000)
    distance, column = off(np.floor(incomes) if whole else incomes)
    assert distance < 0.05
    assert column.size <= 60
    assert {"high", "cuts"} <= set(column.from_data)
    distance, column = off(
        rng.normal(500, 100, 20_000).clip(0) // (1 if whole else 0.01)
    )
    assert not column.cuts
    assert distance < 0.05


def test_a_tail_on_both_sides_keeps_its_shape() -> None:
    """Gains and losses of firms would all fall into the two cells around 0."""
    rng = np.random.default_rng(3)
    gains = rng.lognormal(4, 1.5, 6_000) * rng.choice([-1, 1], 6_000, p=[0.2, 0.8])
    distance, column = off(gains)
    assert distance < 0.05
    assert column.low < 0 < column.high
    assert {"low", "high", "cuts"} <= set(column.from_data)


def test_a_number_that_many_share_has_a_cell_of_its_own() -> None:
    """A price that one sale in ten has would be spread over its cell; of rounded
    numbers none stands out.
    """
    rng = np.random.default_rng(4)
    prices = np.where(rng.random(10_000) < 0.1, 19.99, rng.gamma(4, 10, 10_000))
    distance, column = off(prices)
    assert distance < 0.03
    assert column.special == (19.99,)
    assert "special" in column.from_data
    distance, column = off(rng.gamma(4, 10, 10_000).round(1))
    assert distance < 0.03
    assert column.special == ()
    assert column.size <= 100


@pytest.mark.parametrize("limit", ["<", ">"])
def test_a_limit_that_no_float_holds_is_no_number(limit: str) -> None:
    """One person's cell would end the proposal, or be a cell of its own."""
    values = [f"{number / 2}" for number in range(400)]
    frame = pd.DataFrame({"pay": [*values, limit + 320 * "9"]})
    assert dp.suggest_schema(frame) == dp.suggest_schema(frame[:-1])


@pytest.mark.parametrize("last", ["401", "", "4.5", "x"])
def test_nobody_changes_who_is_protected(last: str) -> None:
    """One row without an id would make each row a person, and the release of all others
    promise less.
    """
    rows = "".join(f"{row // 2},{'FM'[row % 2]}\n" for row in range(200))
    table = read_table(f"patient_id,sex\n{rows}{last},F\n".encode(), "a.csv").frame
    schema = dp.suggest_schema(table)
    assert schema.unit == dp.PrivacyUnit(max_rows=1, id_column="patient_id")
    assert [column.name for column in schema.columns] == ["sex"]
    options = {"budget": dp.PureDP(epsilon=1), "ledger": dp.MemoryLedger()}
    if last:
        dp.Curator.open(table, schema, **options)
        return
    with pytest.raises(dp.SchemaError, match="'patient_id' has missing values"):
        dp.Curator.open(table, schema, **options)


def test_unknown_is_an_answer_among_answers() -> None:
    """Whoever filters by the word would find nobody in drawn rows."""
    frame = pd.DataFrame(
        {
            "contact": ["unknown", "cellular", "telephone", "?"] * 50,
            "size": ["low", "high", "unknown", "medium"] * 50,
            "rooms": ["1", "2", "unknown", "7"] * 50,
        }
    )
    schema = dp.suggest_schema(frame)
    contact = schema.column("contact")
    assert contact.labels == ("cellular", "telephone", "unknown", "(missing)")
    codes = contact.encode(frame["contact"])
    assert codes.tolist()[:4] == [2, 0, 1, 3]
    again = contact.decode(codes, np.random.default_rng(0))
    assert again.tolist()[:3] == ["unknown", "cellular", "telephone"]
    assert again.isna().tolist()[:4] == [False, False, False, True]
    assert "unknown" not in schema.column("size").labels
    assert "unknown" not in schema.column("rooms").labels


def test_a_column_of_mixed_cells_says_which_do_not_fit() -> None:
    """A column of numbers with words was left out because it "may name people"."""
    rng = np.random.default_rng(0)
    pay = [f"{value:.1f}" for value in rng.gamma(3, 900, 150)]
    words = [f"about {number} k" for number in range(50)]
    born = [f"19{40 + i % 50}-03-{i % 28 + 1:02d}" for i in range(150)]
    names = [f"Person{i:03d} Smith" for i in range(200)]
    frame = pd.DataFrame(
        {"pay": pay + words, "born": born + words, "name": names, "n": range(200)}
    )
    frame["sex"] = ["F", "M"] * 100
    reasons = {
        column.name: str(column.reason) for column in dp.suggest_schema(frame).excluded
    }
    assert "most cells are numbers, such as 999" in reasons["pay"]
    assert "50 are not: they look like a 99 a, a 9 a" in reasons["pay"]
    assert "most cells are dates, such as 9999-99-99" in reasons["born"]
    told = " ".join(reasons.values())
    assert not any(cell in told for cell in [*pay, *born, *words, *names])
    # twin: a column of words alone keeps its reason
    free = frame.assign(pay=[f"{word} x{i}" for i, word in enumerate(words * 4)])
    reasons = {
        column.name: str(column.reason) for column in dp.suggest_schema(free).excluded
    }
    assert "which may identify people" in reasons["pay"]


@pytest.mark.parametrize(
    "name",
    [
        "Patientennummer",
        "Patienten-Nr.",
        "PatID",
        "Kundennummer",
        "Versicherten-Nr",
        "Schülernummer",
        "Klantnummer",
        "Medlemsnummer",
        "Asiakasnumero",
        "N° patient",
        "Numéro de client",
        "Número de paciente",
        "Codice paziente",
        "Número do utente",
        "Numer pacjenta",
        "Číslo pacienta",
        "Номер пациента",
        "Κωδικός ασθενούς",
        "Müşteri No",
        "Mã bệnh nhân",
        "患者编号",
        "学号",
        "患者番号",
        "환자번호",
        "hospital_PatientID",
    ],
)
def test_the_number_of_a_person_names_the_person_in_every_language(name: str) -> None:
    """Each stay of a German clinic would be a person of its own, and whoever comes
    three times be protected a third.
    """
    frame = pd.DataFrame(
        {
            "case_id": range(300),
            name: np.arange(300) // 3 + 70_000,
            "ward": ["a", "b", "c"] * 100,
        }
    )
    schema = dp.suggest_schema(frame)
    assert schema.unit == dp.PrivacyUnit(max_rows=1, id_column=name)
    assert left_out(schema) == {"case_id", name}


@pytest.mark.parametrize(
    "name",
    [
        "Hausnummer",
        "Anzahl Kunden",
        "number of patients",
        "liczba dni",
        "nie",
        "CPR",
        "Kundenart",
        "patient",
        "Mitglieder",
    ],
)
def test_what_is_no_number_of_a_person_names_nobody(name: str) -> None:
    """A table of households would be counted by the numbers of their houses."""
    frame = pd.DataFrame({name: np.arange(300) % 30, "ward": ["a", "b", "c"] * 100})
    assert dp.suggest_schema(frame).unit == dp.PrivacyUnit(max_rows=1)
