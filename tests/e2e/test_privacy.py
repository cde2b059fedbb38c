"""Nothing of the private table reaches the browser where it should not, and nothing
leaves the app.
"""

from __future__ import annotations

HOSTILE = (
    "![x](http://127.0.0.1:9/beacon.png)",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
)
PERSON = '<img src="http://127.0.0.1:9/beacon.png" onerror="alert(2)"> person_id'


def test_hostile_names_ask_for_nothing_and_run_nothing(visitor):
    """A column name could report who looks at the page, or take it over.

    The visitor checks both.
    """
    quoted = [name.replace('"', '""') for name in (*HOSTILE, PERSON)]
    header = ",".join(f'"{name}"' for name in quoted)
    rows = "\n".join(
        f'{i % 9},"{quoted[i % 3]}",{i % 5},"{quoted[i % 3]} p{i % 1_000}"'
        for i in range(4_000)  # so many that noise never leaves none
    )
    person = visitor().upload(
        f"{header}\n{rows}".encode(), "![x](http://127.0.0.1:9/file).csv"
    )
    person.page.get_by_text("Show the first rows").click()
    person.choose_rows().page.get_by_text("What is publicly known?").click()
    person.rest().page.get_by_text("Check against the table").click()
    leads_nowhere(person.rest())
    person.know_all().press("Open the data set").sees("The data set is open")
    for page in ("Audit", "Anonymize", "Synthesize"):
        leads_nowhere(person.go(page))
    person.release().page.get_by_text("The same figures as a table").first.click()
    person.press("Release something else").press("A few columns together")
    person.choose_columns(*HOSTILE[:2])
    person.rest().release()
    person.go("Evaluate").sees("is farthest from the original")
    for tab in ("Pairs of columns", "Questions"):
        person.page.get_by_text(tab, exact=True).click()
        person.rest()
    person.page.get_by_test_id("stVegaLiteChart").locator("visible=true").first.hover()
    leads_nowhere(person.go("Ledger").sees("Charges"))


def leads_nowhere(person) -> None:
    """A name that is an address would lead whoever clicks on it to another site."""
    assert person.page.locator('a[href*="127.0.0.1:9"]').count() == 0


def test_private_values_are_not_sent_to_the_pages_that_show_releases(visitor):
    """The browser would receive rows of the table, hidden in what draws a page."""
    secret = "Xanthippe Quisling"
    number = "86753.09"
    shown = "Zebulon Ophiuchus"
    lines = [
        f"{20 + i % 50},{'FM'[i % 2]},{100 + i % 400}.5,name {i}" for i in range(500)
    ]
    lines[250] = f"33,F,{number},{secret}"
    lines[3] = f"33,F,100.5,{shown}"
    person = visitor().open(("age,sex,cost,name\n" + "\n".join(lines)).encode())
    assert any(secret.encode() in frame for frame in person.received) is False
    # the owner's first rows: the look works
    assert any(shown.encode() in frame for frame in person.received)
    person.received.clear()
    person.go("Synthesize").release()
    person.press("Release something else").press("A whole table").release()
    person.go("Ledger").sees("Charges")
    assert sum(map(len, person.received)) > 10_000
    for frame in person.received:
        assert secret.encode() not in frame
        assert shown.encode() not in frame
        assert number.encode() not in frame
        assert NUMBER not in frame


NUMBER = b"\x8f\xc2\xf5\x28\x11\x2e\xf5\x40"
"""86753.09 as the eight bytes of a float64, as Arrow sends it."""
