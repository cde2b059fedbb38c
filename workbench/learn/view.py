"""Nine lessons: one idea, a control, a chart and two sentences each; moving a control computes one only."""

from __future__ import annotations

import functools
from collections.abc import Callable

import streamlit as st

from workbench.learn import figures
from workbench.learn.charts import curves, lying_bars
from workbench.ui import examples, widgets
from workbench.ui.glossary import GLOSSARY
from workbench.ui.language import N_, _
from workbench.ui.wording import hundredths, number, percent, plain

STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def _epsilon(key: str, *, default: float = 1.0, steps: tuple[float, ...] = STEPS) -> float:
    value: float = st.select_slider(
        _("epsilon"),
        steps,
        default,
        key=f"learn-{key}",
        help=GLOSSARY["epsilon"],
        persist_state="session",
    )
    return value


def lesson(
    title: str, page: str, action: str, term: str
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Frame a lesson with its heading and a link to the page that does it, with its word of the glossary."""

    def framed(body: Callable[[], None]) -> Callable[[], None]:
        @st.fragment
        @functools.wraps(body)
        def show() -> None:
            st.header(_(title))
            body()
            label, icon = _(action), ":material/arrow_forward:"
            st.page_link(f"pages/{page}.py", label=label, icon=icon, help=GLOSSARY[term])

        return show

    return framed


@lesson(N_("1 · What noise does"), "synthesize", N_("Release a histogram"), "epsilon")
def noise() -> None:
    """Show two laws and the bound between them."""
    epsilon = _epsilon("noise")
    frame, ratio = figures.neighbors(100, epsilon)
    titles = {"answer": _("noisy answer"), "chance": _("chance"), "table": _("table")}
    alt = _("The chances of every noisy answer with you and without you; they lie close together.")
    widgets.show_chart(curves(frame, titles, alt=alt, points=False), key="learn-noise-chart")
    st.write(
        _(
            "A count of 100 people, and of 101 with you among them, each with noise. Whatever the answer "
            "is, it is at most {ratio} times as likely with you as without you: that bound is the promise."
        ).format(ratio=number(ratio))
    )


@lesson(
    N_("2 · Why not floating-point noise"), "ledger", N_("See which noise each release had"), "sensitivity"
)
def floats() -> None:
    """Show what the last bits of floating-point noise reveal."""
    count = st.slider(_("The true count"), 1, 8, 1, key="learn-floats", persist_state="session")
    share, release, caught = figures.float_leak(count)
    st.metric(
        _("Textbook releases that rule out one person less"),
        percent(share),
        help=_("The share of {draws:,} releases that were drawn just now.").format(draws=figures.DRAWS),
    )
    st.code(f"{release!r}", language=None)
    st.write(
        _(
            "No floating-point draw turns {other} into this number: the count was {count}, and noise hid "
            "nothing."
        ).format(other=count - 1, count=count)
        if caught
        else _(
            "This one could also come from {other}; most others could not. Move the slider to draw again."
        ).format(other=count - 1)
    )
    st.write(
        _(
            "Numbers in a computer have gaps, and the gaps lie elsewhere for every count. Here, noise is "
            "whole numbers."
        )
    )


@lesson(N_("3 · Every answer costs"), "ledger", N_("See what your answers add up to"), "basic composition")
def sequential() -> None:
    """Show how losses add up."""
    laws = figures.two_answers()
    columns = st.columns(len(laws))
    for column, (name, law) in zip(columns, laws.items(), strict=True):
        column.metric(name, _("variance {variance:.2f}").format(variance=law.variance))
    st.write(
        _(
            "Two answers at epsilon 1 cost epsilon 2 together, and their average is better than one of "
            "them. One answer at epsilon 2 costs the same and is better still: ask once, and well. The sum "
            "is no exaggeration: where both answers lie at or below the smaller count, the loss is {loss}. "
            "That of their average alone comes as close to {loss} as one likes: {near} where it lies 5 rows "
            "below that count, {far} where it lies 50 below."
        ).format(
            loss=number(figures.loss_of_two()),
            near=number(figures.loss_of_average(5)),
            far=number(figures.loss_of_average(50)),
        )
    )
    epsilon = _epsilon("sequential", default=0.1, steps=(0.02, 0.05, 0.1, 0.2, 0.5))
    titles = {"answers": _("answers"), "epsilon": _("epsilon of all together"), "way": _("how they add up")}
    alt = _("Epsilon of many answers by three ways to add up; all rise, the sum of epsilons most.")
    widgets.show_chart(curves(figures.composed(epsilon), titles, alt=alt), key="learn-sequential-chart")
    st.write(
        _(
            "With a delta of one in a million, many small answers cost less than their sum. The best "
            "possible holds only for a plan that never looks at an answer, so no budget is released by it."
        )
    )


@lesson(N_("4 · Groups that share nobody cost once"), "synthesize", N_("Count by groups"), "cell")
def parallel() -> None:
    """Show that disjoint parts cost their maximum."""
    groups = st.slider(_("Groups"), 1, 30, 16, key="learn-parallel", persist_state="session")
    apart, together = figures.parts(groups, 1.0)
    left, right = st.columns(2)
    left.metric(_("Nobody is in two groups"), _("epsilon {loss}").format(loss=number(apart)))
    right.metric(_("Groups may overlap"), _("epsilon {loss}").format(loss=number(together)))
    st.write(
        _(
            "A histogram counts everybody in one bar, so all its bars cost epsilon 1 together. Where people "
            "may be in several groups, each group costs; and where the groups were chosen by looking at the "
            "data, the choice itself has told something, and no sum of epsilons covers that."
        )
    )


@lesson(N_("5 · What comes after is free"), "synthesize", N_("Draw rows from a release"), "post-processing")
def post_processing() -> None:
    """Show that what is computed afterwards is free."""
    frame = figures.afterwards(_epsilon("after"))
    titles = {
        "computed": _("what is computed from the answer"),
        "epsilon": _("privacy loss, counted exactly"),
    }
    alt = _("The privacy loss of an answer and of what is computed from it; none is above the first.")
    widgets.show_chart(lying_bars(frame, titles, alt=alt), key="learn-after-chart")
    st.write(
        _(
            "Whoever has only the answer cannot squeeze more about you out of it: by no computation, ever. "
            "That is why a synthetic table may be drawn again and again, and the ledger does not move."
        )
    )


@lesson(N_("6 · One histogram, all ranges"), "evaluate", N_("Ask ranges of a release"), "marginal")
def ranges() -> None:
    """Show that a histogram answers all ranges at once."""
    epsilon = _epsilon("ranges", default=0.1)
    titles = {
        "ages": _("years of age in a range"),
        "percent": _("error, % of the true count"),
        "way": _("how"),
    }
    alt = _("Error of range questions by width: from a histogram it falls slower than asked directly.")
    chart = curves(figures.by_width(epsilon), titles, alt=alt, logarithmic=("ages", "percent"))
    widgets.show_chart(chart, key="learn-ranges-chart")
    st.write(
        _(
            "Adding up bars adds up their noise, yet wide ranges hold more people: the error in rows grows, "
            "the error in percent falls. Asked directly, each range is better, and each costs epsilon again."
        )
    )


@lesson(N_("7 · The price of more columns"), "synthesize", N_("Release several columns"), "domain")
def columns() -> None:
    """Show that more columns leave fewer rows in each cell."""
    frame = figures.by_columns(_epsilon("columns"))
    titles = {
        "columns": _("counted together"),
        "distance": _("share of rows whose age moved"),
        "cells": _("cells"),
        "error": _("error of a cell, % of the rows of a mean one"),
    }
    alt = _("How far ages move when they are counted with more columns: further with each.")
    widgets.show_chart(lying_bars(frame[list(titles)], titles, alt=alt), key="learn-columns-chart")
    st.write(
        _(
            "The same people, the same epsilon: with {cells:,} cells most are empty, and the noise in them "
            "outweighs the people. The error of a cell is {first} of the rows of a mean one when ages are "
            "counted alone, and {last} with all. Release few columns together, or let Adaptive choose which."
        ).format(
            cells=int(frame["cells"].max()),
            first=hundredths(frame["error"].iloc[0]),
            last=hundredths(frame["error"].iloc[-1]),
        )
    )


@lesson(N_("8 · k-anonymity and its holes"), "anonymize", N_("Anonymize a table"), "equivalence class")
def holes() -> None:
    """Show k-anonymity, counted by hand."""
    linkage = figures.linkage()
    st.write(
        _(
            "A voter list of {people:,} names, and visits of an invented hospital without names: by zip, "
            "birth date and sex, {unique:,} people are found with certainty. Making groups of k helps, but "
            "not against everything:"
        ).format(people=linkage.people, unique=linkage.unique)
    )
    steps = {step.number: step for step in examples.EXAMPLES}
    titles = {number: _(step.title) for number, step in steps.items()}
    step = steps[widgets.choose(_("Table of the textbook"), titles, key="learn-holes")]
    left, right = st.columns([2, 3])
    left.dataframe(step.frame(), hide_index=True)
    right.write(plain(_(step.says), at_most=400))
    right.markdown("  \n".join(f"**{line}**" for line in step.counted()))
    right.caption(_(examples.BOOK))


@lesson(N_("9 · Trust nobody"), "local_dp", N_("Ask without trust"), "local model")
def local() -> None:
    """Show the price of having no curator."""
    epsilon = _epsilon("local")
    categories = st.slider(_("Possible answers"), 2, 50, 4, key="learn-local-k", persist_state="session")
    titles = {"people": _("people who answer"), "error": _("standard error of a share"), "trust": _("trust")}
    alt = _("Standard error against people: without a curator it is far larger, and falls slower.")
    chart = curves(
        figures.local_and_central(epsilon, categories), titles, alt=alt, logarithmic=("people", "error")
    )
    widgets.show_chart(chart, key="learn-local-chart")
    st.write(
        _(
            "When everybody perturbs their own answer, nobody needs to be trusted, and the error falls with "
            "the square root of the people. A trusted curator adds noise once, and the error falls with the "
            "people."
        )
    )


LESSONS = (noise, floats, sequential, parallel, post_processing, ranges, columns, holes, local)
