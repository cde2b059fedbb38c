"""Words for people: sentences that are true, and texts of people shown to the
letter.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from dpcore.accounting.ledger import Account
from dpcore.errors import BudgetExceeded, ParameterError
from dpcore.release import Guarantee
from dpcore.schema.origin import CellSearch
from workbench.language import budget, wording
from workbench.language.messages import use_language

ROOT = Path(__file__).resolve().parents[3]
SOURCES = sorted(
    [
        *(ROOT / "pages").glob("*.py"),
        *(ROOT / "workbench").glob("*.py"),
    ]
)
SOURCES.remove(ROOT / "workbench" / "__main__.py")  # a command line is no page


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.5, "0.5"),
        (0.004216, "0.00422"),
        (12.0, "12"),
        (99.96, "100"),
        (1234.5, "1,234"),
        (20000, "20,000"),
        (10**30, "1,000,000,000,000,000,000,000,000,000,000"),
        (float("inf"), "∞"),
        (-3.14159, "-3.14"),
    ],
)
def test_numbers_have_the_digits_that_mean_something(value, shown):
    """Numbers would be too long to read, or wrong by rounding."""
    assert wording.number(value) == shown


@pytest.mark.parametrize(
    "text",
    [
        "![x](http://a/b.png)",
        "[a](b)",
        "*a*",
        "`a`",
        "$x$",
        ":red[a]",
        "<b>",
        "# a",
        "- a",
        "a|b",
        "~a~",
        "www.a.b",
        "HTTPS://a.b",
        "a.b@c.de",
    ],
)
def test_plain_leaves_no_markdown(text):
    """A column name would load a picture from elsewhere in the viewer's browser."""
    shown = wording.escape_markdown(text)
    assert wording.strip_markdown(shown) == text
    # Markdown looks for addresses after escapes are undone
    read = shown.replace("\\", "")
    assert not re.search(r"https?://|www\.|\w@", read, re.IGNORECASE)
    for i, sign in enumerate(shown):
        if sign in "![]()*`$:<>#-|~.":
            assert shown[i - 1] == "\\"


def test_plain_is_one_short_line():
    """A name of many lines would push the page away."""
    assert wording.escape_markdown("a\nb\tc\u2028d") == "a b c d"
    assert len(wording.escape_markdown("x" * 500)) == 80


def test_odds_follow_bayes_rule():
    """The sentence on what an epsilon means would be false."""
    assert wording.max_membership_probability(0) == 0.5
    assert wording.max_membership_probability(1.0) == pytest.approx(0.7310586)
    assert wording.max_membership_probability(1.0, prior=0.1) == pytest.approx(
        0.1 * 2.718281828 / (0.1 * 2.718281828 + 0.9)
    )
    assert wording.max_membership_probability(1e9) == 1.0
    assert "73.1\u202f%" in wording.epsilon_words(1.0)
    assert "99.97\u202f%" in wording.epsilon_words(8.0)
    assert "all but certain" in wording.epsilon_words(50.0)


def test_verdicts_get_weaker_with_epsilon():
    """A weak promise would be called strong."""
    assert len({wording.epsilon_verdict(value) for value in (0.5, 3, 8, 50)}) == 4


def test_errors_are_sentences_with_a_way_on():
    """An error box would not say what to do."""
    problem, remedy = wording.error_words(
        ParameterError("k (0) must be at least 1", remedy="raise k")
    )
    assert (problem, remedy) == ("K (0) must be at least 1.", "Raise k.")
    assert wording.error_words(BudgetExceeded("too much"))[1] == ""


def test_guarantees_name_what_they_do_not_cover():
    """A guarantee would keep silent about facts that were taken from the data."""
    guarantee = Guarantee(
        kind="differential privacy",
        loss={"epsilon": "1/2", "delta": "1/1000000000"},
        unit="add or remove one person (one row)",
        from_data={"age": ("low",), "load": ("kind",)},
        found={"load": CellSearch(measure="epsilon", amount="1/20")},
        known_from={
            "sex": "plainly public",
            "ward": "our web page",
            "zip": "plainly public",
        },
    )
    assert Guarantee.from_dict(guarantee.to_dict()) == guarantee
    words = " ".join(wording.guarantee_words(guarantee))
    assert "outside knowledge (plainly public): sex, zip." in words
    assert "outside knowledge (our web page): ward." in words
    assert "epsilon 0.5 with delta 1 in a billion" in words
    assert "taken from the data itself: age (low)." in words
    assert "add or remove one person" in words


def test_a_proposed_source_is_told_in_the_language_of_the_reader():
    """A German page would name an English source, and an English page a German one."""
    for stored in ("plainly public", "offenkundig öffentlich", "显然公开"):
        assert wording.source_words(stored) == "plainly public"
        with use_language("de"):
            assert wording.source_words(stored) == "offenkundig öffentlich"
    assert wording.source_words("our web page") == "our web page"


def test_each_search_for_cells_is_named_with_its_loss():
    """Two searches of one loss would be read as one, and cost half of what was charged;
    or files of before, which name no search, could not be read.
    """
    first = CellSearch(measure="epsilon", amount="1/20", id="0123456789abcdef")
    second = CellSearch(measure="epsilon", amount="1/20", id="fedcba9876543210")
    older = CellSearch(measure="rho", amount="1/400")
    sentences = wording.found_cells_sentences(
        {"pay": first, "size": second, "age": first, "load": older, "height": older}
    )
    begins = "Found privately, for another {}: the cells of {}."
    expected = [
        ("epsilon 0.05", "pay, age"),
        ("epsilon 0.05", "size"),
        ("rho 0.0025", "load, height"),
    ]
    assert [each.partition(" The table itself")[0] for each in sentences] == [
        begins.format(*each) for each in expected
    ]


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ({"epsilon": "1.0049"}, "epsilon 1.01"),
        ({"epsilon": "1/3"}, "epsilon 0.334"),
        ({"epsilon": "1000.2"}, "epsilon 1,001"),
        ({"rho": "1/200000"}, "rho 0.000005"),
        ({"epsilon": "0"}, "epsilon 0"),
        ({"epsilon": "1", "delta": "1/999999"}, "epsilon 1 with delta 1 in 999,990"),
    ],
)
def test_losses_are_rounded_up(loss: dict[str, str], words: str) -> None:
    """A page would promise less than was paid."""
    assert wording.loss_words(loss) == words


def test_amounts_carry_their_unit():
    """Rho would be read as epsilon."""
    promise = {"epsilon": "3", "delta": "1/1000000000"}
    account = Account(
        dataset="d",
        rule="zcdp",
        units=10**12,
        threshold_units=0,
        promise=promise,
        unit={"max_rows": 1},
    )
    assert budget.amount_words(4_216_000_000, account).endswith("(epsilon 0.517)")
    assert budget.budget_words(account) == "epsilon 3 with delta 1 in a billion"


SHOWS_TEXT = {
    "title",
    "header",
    "subheader",
    "markdown",
    "write",
    "caption",
    "text",
    "info",
    "success",
    "warning",
    "error",
    "badge",
    "button",
    "download_button",
    "link_button",
    "page_link",
    "metric",
    "expander",
    "tabs",
    "selectbox",
    "multiselect",
    "radio",
    "segmented_control",
    "pills",
    "slider",
    "select_slider",
    "number_input",
    "text_input",
    "text_area",
    "checkbox",
    "toggle",
    "file_uploader",
    "popover",
    "progress",
    "spinner",
    "toast",
    "dialog",
    "status",
    "Page",
    "TextColumn",
    "NumberColumn",
    "SelectboxColumn",
    "CheckboxColumn",
}
SHOWN_ARGUMENTS = {"label", "help", "title", "placeholder", "alt", "text", "captions"}
# signs, addresses of pages, Altair's shorthand
MARKUP = re.compile(r"[\W\d]*(:\w+\[[\W\d]*)*|pages/(\w+\.py)?|\.py|\w+:[NQOT]")
SAME_EVERYWHERE = {"CSV", "Parquet", "k", "l", "t"}


def untranslated(source: str) -> list[str]:
    """String literals that a Streamlit call shows without `_()`."""
    found = []
    for call in ast.walk(ast.parse(source)):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        if "getLogger" in (logger := ast.unparse(call.func.value)) or logger == "_log":
            continue
        shown = [each.value for each in call.keywords if each.arg in SHOWN_ARGUMENTS]
        if call.func.attr in SHOWS_TEXT and call.args:
            shown.append(call.args[0])
        for argument in shown:
            found += [
                text for text in literals(argument) if any(map(str.isalpha, text))
            ]
    return [text for text in found if text not in SAME_EVERYWHERE]


def literals(node: ast.AST) -> list[str]:
    """String literals in an expression, outside calls (of `_` above all), subscripts
    and comparisons.
    """
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, (ast.Call, ast.Subscript, ast.Compare)):
        return []
    if isinstance(node, ast.FormattedValue):
        return literals(node.value)
    return [text for child in ast.iter_child_nodes(node) for text in literals(child)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_every_visible_string_goes_through_gettext(path):
    """A catalogue for another language would leave English words on the page."""
    assert [
        text for text in untranslated(path.read_text()) if not MARKUP.fullmatch(text)
    ] == []


def test_an_untranslated_string_is_found():
    """The check above would see nothing."""
    assert untranslated('st.title("Hello")') == ["Hello"]
    assert untranslated('st.button(_("Hi"), help="Hello")') == ["Hello"]
    assert untranslated('left.metric(_("Hi"), "x", help=_("Hello"))') == []
    assert untranslated("st.write(f\"**{_('Hi')}** rows\")") == ["** rows"]
