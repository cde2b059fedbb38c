"""Record of every step from the table to drawn rows, with charges and results."""

import dataclasses
import uuid
from fractions import Fraction
from typing import Any

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation import OutlierRowsQuestion
from dpcore.release import Release
from dpcore.synthesis import RecordStep, closeness_step, model_steps
from dpcore.synthesis.closeness import MAX_ATTEMPTS
from dpcore.text import Text
from workbench import session
from workbench.language.budget import amount_words, charged_units
from workbench.language.messages import (
    N_,
    _,
    capital,
    join_with_commas,
    localize_number,
    translate,
)
from workbench.language.wording import escape_markdown, percent
from workbench.server.workers import drawing
from workbench.synthesize.state import SynthesizeState
from workbench.ui import epsilon_view, progress_view, widgets
from workbench.ui.progress_view import say_computing

STEP_TITLES = {
    "preprocess": N_("Prepare: clip values to public bounds"),
    "model": N_("Learn a model"),
    "sample": N_("Draw rows"),
    "privacy test": N_("Test the drawn rows"),
}
RESULT_TITLES = {
    "columns": N_("columns"),
    "bounds": N_("bounds"),
    "rows": N_("rows"),
    "draw": N_("draw"),
    "rarest combination": N_("rows of the rarest combination"),
    "repeated rows": N_("rows that repeat another row"),
    "smallest distance": N_("smallest distance between two rows"),
    "copies of public records": N_("copies of public records"),
    "passed": N_("passed"),
    "distance": N_("rows that differ"),
    "half width": N_("off by"),
}


def show(
    curator: Curator | None,
    release: Release,
    rows: int,
    draw: int,
    drawn: tuple[Any, ...],
) -> None:
    """Show all steps of a release, and offer charged tests of its drawn rows.

    Args:
        curator: curator of the table; None if its rows are not here.
        release: source of the drawn rows.
        rows: number of drawn rows.
        draw: number of earlier draws.
        drawn: key that changes with the rows.
    """
    key = f"tests-{release.request_id}"
    tests = session.own(SynthesizeState).tests.setdefault(release.request_id, {})
    known = dict(tests)
    with widgets.fold(
        _("All steps as one record"), key=f"steps-{release.request_id}"
    ) as is_open:
        if not is_open:
            return
        sample: tuple[RecordStep, ...] = (
            RecordStep(name="sample", result={"rows": rows, "draw": draw + 1}),
        )
        if st.toggle(
            _("Look for repeated and for nearest rows among the drawn rows (free)"),
            key=f"{key}-free",
        ):
            tested = session.compute_once(
                ("tested", *drawn),
                lambda: progress_view.compute_in_line(
                    drawing.draw_and_test, release, rows, draw
                ),
            )
            sample += tested[1:]
        sample += _test_combinations(release, rows, draw, drawn, key)
        steps = [*model_steps(release), *sample, *filter(None, known.values())]
        st.dataframe(
            pd.DataFrame([_step_line(step) for step in steps]),
            hide_index=True,
            alt=_("All steps as one record"),
        )
        st.caption(_("The promise holds whatever a test shows."))
        if curator is not None:
            with widgets.catch_and_show_errors():
                _show_outliers(curator, release)
            if None in known.values():
                say_computing(lambda: None not in tests.values())
            _offer_table_test(curator, release, rows, draw, tests, key)


def _test_combinations(
    release: Release,
    rows: int,
    draw: int,
    drawn: tuple[Any, ...],
    key: str,
) -> tuple[RecordStep, ...]:
    """Test whether each combination of values occurs in enough drawn rows."""
    if not st.toggle(
        _(
            "Check whether every combination occurs often enough among the drawn "
            "rows (free)"
        ),
        key=f"{key}-k",
    ):
        return ()
    left, right = st.columns([3, 1])
    columns = left.multiselect(
        capital("columns"), list(release.model_columns), key=f"{key}-combined"
    )
    least = int(
        right.number_input(_("Rows, at least"), 2, 1_000, 5, key=f"{key}-least")
    )
    st.caption(
        _(
            "Drawn rows do not belong to people, so this test adds no protection: "
            "the guarantee is that of the release. If the test fails, draw other "
            "rows or choose fewer columns. Both are free."
        )
    )
    if not columns:
        return ()
    given = (release, rows, draw, columns, least)
    step = session.compute_once(
        ("combined", *drawn, *columns, least),
        lambda: progress_view.compute_in_line(drawing.check_combinations, *given),
    )
    return (step,)


def _show_outliers(curator: Curator, release: Release) -> None:
    """Show the share of outliers in the original; it is no step of the release."""
    names = tuple(
        name
        for name in release.model_columns
        if release.schema.column(name).is_interval
    )
    if not names or not st.toggle(
        _("Outliers in the original table"),
        key=f"apart-{release.request_id}",
    ):
        return
    widgets.show_internal_badge()
    outliers = progress_view.evaluate_in_line(
        curator, ("thin rows", names), lambda: OutlierRowsQuestion(columns=names)
    )
    st.markdown(
        _(
            "**{share} of the rows are outliers in {columns}:** their fifth-nearest "
            "neighbor is more than three times as far away as that of a typical row."
        ).format(
            share=percent(outliers.share),
            columns=escape_markdown(join_with_commas(names), max_length=200),
        ),
    )


def _offer_table_test(
    curator: Curator,
    release: Release,
    rows: int,
    draw: int,
    tests: dict[str, RecordStep | None],
    key: str,
) -> None:
    tab = session.session()
    test_ids = session.own(SynthesizeState).test_ids
    widgets.show_notice(key)
    columns = st.multiselect(
        _("Columns in which to compare the drawn rows with the table"),
        list(release.model_columns),
        key=f"{key}-columns",
    )
    epsilon = epsilon_view.ask_share(
        "test-loss", curator=curator, default=Fraction(1, 30)
    )
    left = MAX_ATTEMPTS - len(tests)
    question = (release.request_id, rows, draw, tuple(columns), epsilon)
    request_id = test_ids.setdefault(question, uuid.uuid4().hex)
    if st.button(
        _("Test against the table for {cost}").format(
            cost=amount_words(charged_units(epsilon, curator.account), curator.account)
        ),
        disabled=not columns
        or left < 1
        or release.part is not None
        or None in tests.values(),
        key=f"{key}-run-{request_id}",
    ):
        try:
            closeness = progress_view.compute_in_worker(
                drawing.closeness_recipe, release, rows, draw, columns
            )
            loss = curator.rule.convert(epsilon_view.loss_of_epsilon(curator, epsilon))
        except DpcoreError as error:
            widgets.error_box(error)
            return
        if request_id not in tests:
            tests[request_id] = None
            try:
                step = closeness_step(
                    curator.run(closeness, loss, request_id=request_id), loss
                )
                tests[request_id] = dataclasses.replace(
                    step, result={"draw": draw + 1, **step.result}
                )
            except DpcoreError as error:
                tab.notices[key] = error
            # another click may have ended this page run: use nothing of the page from
            # here on
            finally:
                test_ids.pop(question, None)
                if tests[request_id] is None:
                    del tests[request_id]
        st.rerun()
    last = next(reversed([*filter(None, tests.values())]), None)
    if last is not None and not last.passed and left > 0:
        st.warning(
            _(
                "The test failed. Draw other rows and test them. Each test costs "
                "epsilon {epsilon}; {left} more tests are allowed."
            ).format(epsilon=localize_number(f"{epsilon:g}"), left=left)
        )
    st.caption(
        _(
            "Every test is charged, and its answer is noisy. At most {limit} tests "
            "are allowed; {left} remain."
        ).format(limit=MAX_ATTEMPTS, left=left)
    )


def _step_line(step: RecordStep) -> dict[str, str]:
    words = [
        f"{_(RESULT_TITLES[name])}: {_value_words(value)}"
        for name, value in step.result.items()
    ]
    return {
        _("step"): _(STEP_TITLES[step.name]),
        _("cost"): _charge_words(step.loss),
        _("result"): "; ".join(words),
    }


def _charge_words(loss: str) -> str:
    parts = [part.partition(" ") for part in loss.split(", ") if part]
    return ", ".join(f"{_(name)} {amount}" for name, _blank, amount in parts) or _(
        "none"
    )


def _value_words(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return (
        translate(value)
        if isinstance(value, Text)
        else value
        if isinstance(value, str)
        else f"{value:,.4g}"
    )
