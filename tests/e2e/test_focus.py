"""After a change of page the focus is on its heading, however slowly the page is
drawn.
"""

from __future__ import annotations

import pytest

from workbench.server.web import focus

PAGE = f"""<!doctype html><script>{focus.SCRIPT.decode()}</script>
<div data-testid="stApp" data-test-script-state="notRunning">
<a href="#">Go</a><div data-testid="stMain"><h1>Data</h1><button>Open</button></div></div>"""
AUDIT = "document.querySelector('h1').outerHTML = '<h1>Audit</h1>'"


@pytest.fixture
def page(browser):
    page = browser.new_page()
    page.route("**/*", lambda route: route.fulfill(content_type="text/html", body=PAGE))
    page.goto("http://127.0.0.1/")
    page.get_by_text("Go").click()
    # what the script does after a click is done before the page turns
    page.evaluate("() => new Promise(done => setTimeout(done))")
    page.evaluate("history.pushState({}, '', '/audit')")
    yield page
    page.close()


def state(page, name: str) -> None:
    page.evaluate(
        (
            "name => "
            "document.querySelector('[data-testid=stApp]').dataset.testScriptState = "
            "name"
        ),
        name,
    )


def focused(page) -> str:
    return page.evaluate("document.activeElement.innerText")


def step_while_on_button(page) -> None:
    """Another heading is drawn while the focus is on a button, which keeps it."""
    state(page, "running")
    state(page, "notRunning")
    page.get_by_text("Open").click()
    page.evaluate(AUDIT)
    assert focused(page) == "Open"


def test_the_heading_is_taken_when_the_page_stands(page):
    """Who listens to a page would begin at the navigation again."""
    state(page, "running")
    page.evaluate(AUDIT)
    assert focused(page) == "Go"
    state(page, "notRunning")
    assert focused(page) == "Audit"


def test_the_stop_at_the_top_is_not_shown(page):
    """Streamlit's own Stop leaves an empty page; a person would take it for the one by
    the progress.
    """
    for name in ("stStatusWidget", "stMain"):
        button = f"<p data-testid={name}><button>Stop</button>"
        page.evaluate(
            "button => document.body.insertAdjacentHTML('beforeend', button)", button
        )
    assert [each.is_visible() for each in page.get_by_text("Stop").all()] == [
        False,
        True,
    ]


def test_a_heading_that_is_drawn_late_is_taken(page):
    """A busy server would leave the focus nowhere: its page says that it stands before
    all of it is drawn.
    """
    state(page, "running")
    page.evaluate("document.querySelector('h1').remove()")
    state(page, "notRunning")
    page.wait_for_timeout(1_000)
    page.evaluate(
        "document.querySelector('[data-testid=stMain]').innerHTML = '<h1>Audit</h1>'"
    )
    assert focused(page) == "Audit"


@pytest.mark.parametrize(
    "drawn", [AUDIT, "document.querySelector('h1').firstChild.data = 'Audit'"]
)
def test_the_heading_of_the_last_page_is_left(page, drawn):
    """The end of the last page's run would be taken for that of the new one."""
    state(page, "running")
    state(page, "notRunning")
    assert focused(page) == "Data"
    page.evaluate("addEventListener('focusin', () => (window.taken = true))")
    page.wait_for_timeout(1_000)
    page.evaluate(drawn)
    assert focused(page) == "Audit"
    assert page.evaluate("window.taken")


def test_who_has_gone_on_is_left_alone(page):
    """The focus would jump away from what somebody works at, each time that a page is
    drawn anew.
    """
    step_while_on_button(page)
    page.mouse.click(5, 500)
    page.evaluate(AUDIT)
    assert page.evaluate("document.activeElement.tagName") == "BODY"


def test_a_click_on_a_page_that_is_not_done_is_kept(page):
    """The page went to its top between press and release, and the click was lost."""
    page.evaluate("document.querySelector('h1').outerHTML = '<h1>Audit</h1>'")
    page.evaluate(
        """() => {
            const main = document.querySelector('[data-testid=stMain]')
            main.style = 'height: 200px; overflow: auto'
            main.insertAdjacentHTML('beforeend', '<p style="height: 900px"></p><button>Revoke</button>')
            main.lastChild.addEventListener('click', () => (window.revoked = true))
            main.scrollTo(0, 9999)
        }"""
    )
    state(page, "running")
    box = page.get_by_text("Revoke").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    state(page, "notRunning")
    page.wait_for_timeout(100)
    page.mouse.up()
    assert page.evaluate("window.revoked") is True
    assert focused(page) == "Revoke"


def test_a_step_whose_button_is_gone_is_taken(page):
    """After "Pay and release" the next Tab led past the result, wherever its dialog had
    been in the page.
    """
    step_while_on_button(page)
    page.evaluate("document.querySelector('button').remove()")
    assert focused(page) == "Audit"


def test_another_heading_begins_at_the_top(page):
    """On a telephone, "Open the data set" led to the middle of what one can do now, its
    heading cut off.
    """
    state(page, "running")
    state(page, "notRunning")
    main = "document.querySelector('[data-testid=stMain]')"
    page.evaluate(f"{main}.style.cssText = 'height: 99px; overflow: auto'")
    page.evaluate(f"{main}.insertAdjacentHTML('beforeend', '<p style=height:2000px>')")
    page.get_by_text("Open").click()
    page.evaluate(f"{main}.scrollTo(0, 500)")
    state(page, "running")
    state(page, "notRunning")
    assert page.evaluate(f"{main}.scrollTop") == 500, (
        "a page that is drawn anew stays where it is"
    )
    state(page, "running")
    page.evaluate(AUDIT)
    state(page, "notRunning")
    page.wait_for_function(f"{main}.scrollTop === 0")
