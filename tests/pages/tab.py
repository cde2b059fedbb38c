"""One browser tab as AppTest drives it, from workbench/navigation.py."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpcore.curator import Curator
from workbench import session

PATIENCE = 300
"""Seconds in which a busy machine runs any page, or a release of a few rows."""
APP = Path(__file__).resolve().parents[2] / "workbench" / "navigation.py"
CSV = "\n".join(
    [
        "age,sex,city",
        *(f"{20 + i % 50},{'F' if i % 3 else 'M'},{'ABCD'[i % 4]}" for i in range(200)),
    ],
).encode()


def page_within(frame: Any) -> str:
    """The page in a frame, which may do nothing in the tab."""
    held = re.fullmatch(
        r'<iframe sandbox="" [^>]*srcdoc="([^"]*)"></iframe>', frame.proto.srcdoc
    )
    assert held, frame.proto.srcdoc[:200]
    return html.unescape(held[1])


RULE = "What is the most that you will release from this table?"
"""How the question begins by whose answer charges add up."""


class Tab:
    """One tab. Every step runs the page once and hands back the tab."""

    def __init__(self) -> None:
        self.at = AppTest.from_file(str(APP), default_timeout=PATIENCE)

    def go(self, page: str) -> Tab:
        """Open a page by its file's name."""
        self.at.switch_page(str(session.page_script(page))).run()
        return self

    def press(self, label: str) -> Tab:
        """Press the first button whose label begins with `label`."""
        self.button(label).click().run()
        return self

    def button(self, label: str):
        """The first button whose label begins with `label`."""
        labels = [each.label for each in self.at.button]
        found = [each for each in self.at.button if each.label.startswith(label)]
        assert found, f"no button {label!r} among {labels}"
        return found[0]

    def upload(
        self, content: bytes, name: str = "people.csv", seconds: float = PATIENCE
    ) -> Tab:
        """Drop a file on a page; on the first one, to share something of it."""
        fields = [*self.at.file_uploader]
        to_share = [each for each in fields if str(each.key).startswith("table-upload")]
        (to_share or fields)[0].upload(name, content, "text/csv").run(timeout=seconds)
        return self

    def open(self, content: bytes = CSV, name: str = "people.csv") -> Tab:
        """Upload a table and open it as it was suggested, with all facts known from
        outside.
        """
        return self.go("upload").upload(content, name).open_draft()

    def open_draft(self, rule: str = "basic") -> Tab:
        """Open the table that was read, with all facts known from outside, under a
        rule by which charges add up.
        """
        if self.session.draft is None:  # recognized: opened as it was declared before
            return self
        for radio in self.at.radio:
            if self.words_of(radio.label).startswith(RULE):
                radio.set_value(rule)
        groups = self.at.get("button_group")
        cap = [
            each for each in groups if each.label.startswith("Maximum number of rows")
        ]
        if cap and cap[0].value is None:
            cap[0].set_value(1).run()
        return self.know_all().press("Open the data set")

    def words_of(self, label: str) -> str:
        """Return a label as a person reads it."""
        return label

    def know_all(self) -> Tab:
        """Say of all columns in the grid that they are known from outside."""
        draft = self.session.draft
        assert draft is not None
        draft.edited_grid = draft.edited_grid.assign(**{"known from": "δοκιμή"})
        draft.version += 1
        self.at.run()
        return self

    def unfold(self, label: str) -> Tab:
        """Open the fold of this label, which computes what is in it."""
        found = [
            each.proto.id
            for each in self.at.expander
            if self.words_of(each.label).startswith(label)
        ]
        assert found, f"no fold {label!r}"
        # an id ends with the key: "$$ID-hash-key"
        self.at.session_state[found[0].split("-", 2)[2]] = True
        self.at.run()
        return self

    def set(self, kind: str, label: str, value: object) -> Tab:
        """Give the first widget of a kind with this label a value."""
        next(
            each for each in self.at.get(kind) if each.label.startswith(label)
        ).set_value(value).run()
        return self

    def release(self) -> Tab:
        """Confirm what the Synthesize page offers, and wait for the result."""
        return self.press("Release for").press("Pay and release").settle()

    def settle(self) -> Tab:
        """Wait for the run that is going on, if it has not ended yet."""
        if self.session.runs.current is not None:
            assert self.session.runs.current.has_ended.wait(PATIENCE)
            self.at.run()
        return self

    @property
    def session(self) -> session.Session:
        """What this tab holds."""
        return self.at.session_state["workbench"]

    @property
    def curator(self) -> Curator:
        """The open data set."""
        assert self.session.curator is not None
        return self.session.curator

    @property
    def errors(self) -> str:
        """All error boxes; no page may ever end in a traceback."""
        assert not self.at.exception, [each.value for each in self.at.exception]
        return "\n".join(each.value for each in self.at.error)

    @property
    def framed(self) -> str:
        """The page that is shown within this one."""
        return page_within(self.at.get("iframe")[0])

    @property
    def text(self) -> str:
        """Everything that is written on the page."""
        assert not self.at.exception, [each.value for each in self.at.exception]
        kinds = (
            "title",
            "header",
            "subheader",
            "markdown",
            "caption",
            "info",
            "success",
            "warning",
            "error",
        )
        return "\n".join(
            str(each.value) for kind in kinds for each in self.at.get(kind)
        )
