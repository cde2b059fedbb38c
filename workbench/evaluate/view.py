"""The quick part of the Evaluate page: verdict, overview, columns, pairs, questions."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation import measures
from dpcore.evaluation.attacks import Disclosure
from dpcore.evaluation.learning import Score
from dpcore.evaluation.similarity import SimilarityReport
from dpcore.synthesis import SyntheticModel
from workbench import session
from workbench.evaluate import comparing, heavy
from workbench.evaluate.candidates import Candidate
from workbench.evaluate.charts import scales
from workbench.evaluate.verdict import kept_relations, verdict
from workbench.ui import charts, widgets
from workbench.ui.language import _
from workbench.ui.wording import number, percent, plain


def progress(title: str) -> tuple[Callable[[str, float], None], Callable[[], object]]:
    """A bar that tells the stage, beside a way to stop, and how to take them away."""
    stages = {
        "attacking": _("attacking"),
        "making it again": _("making it again from half of the people"),
        "telling the tables apart": _("telling the tables apart"),
        **heavy.task_titles(),
    }
    return widgets.progress(title, stages)


def overview(curator: Curator, candidate: Candidate, found: SimilarityReport) -> None:
    """The verdict, and at most six figures."""
    judged = verdict(found, ours=candidate.release is not None)
    boxes = {"good": st.success, "mixed": st.info, "poor": st.warning}
    icons = {
        "good": ":material/check_circle:",
        "mixed": ":material/info:",
        "poor": ":material/do_not_disturb_on:",
    }
    text = f"**{judged.sentence}**" + "".join(f"  \n{action}" for action in judged.actions)
    boxes[judged.level](text, icon=icons[judged.level])
    kept = kept_relations(found)
    cells = st.columns(6)
    cells[0].metric(
        _("Worst column"),
        comparing.score_words(found, measures.ONE_COLUMN),
        help=_(
            "Share of the rows that would have to change in this column: {column}. 0 % is perfect."
        ).format(column=plain(found.columns[0].column)),
    )
    cells[1].metric(
        _("Relations kept"),
        "–" if kept is None else percent(kept),
        help=_(
            "The part that is kept, of what pairs tell beyond single columns. Independent columns keep 0 %."
        ),
    )
    cells[2].metric(
        _("Questions off by"),
        comparing.score_words(found, measures.QUERIES),
        help=_("Mean error of 300 random questions about two or three columns, in % of the true share."),
    )
    cells[3].metric(
        _("Impossible pairs"),
        comparing.score_words(found, measures.IMPOSSIBLE),
        help=_("Rows with two values that never go together in the original, although chance would do it."),
    )
    cells[4].metric(
        _("Learning"),
        _learning_words(curator, candidate),
        help=_("Accuracy of a model that learned from the release; in brackets, from the original."),
    )
    cells[5].metric(
        _("Attacks"),
        _attack_words(curator, candidate),
        help=_("How many of six work better on people in the release than on others; see Disclosure."),
    )
    placed = comparing.placed(found)
    if len(placed):
        with st.expander(_("Where that is between perfect and independent columns")):
            widgets.show_chart(scales(placed), key="figures")
            st.caption(
                _("Another sample: what chance alone brings between two samples of this size. ")
                + _("Independent columns: every column kept, every relation lost. ")
                + _("Single columns are not here: independent columns have each of them right.")
            )


def columns(curator: Curator, candidate: Candidate, found: SimilarityReport) -> None:
    """Every column before and after, and one of them drawn."""
    worst = found.columns[0]
    st.markdown(
        _("**The column that moved most is {column}: {distance} of its rows would have to change.**").format(
            column=plain(worst.column), distance=percent(worst.distance)
        )
    )
    st.dataframe(comparing.columns_table(curator, found), hide_index=True, key="columns-table")
    st.caption(_("Pairs of figures: the original → the release."))
    names = [each.column for each in found.columns]
    name = st.selectbox(_("Column"), names, key=f"evaluate-column-{candidate.key[:8]}")
    chart = comparing.column_chart(comparing.distribution(curator, candidate, name))
    widgets.show_chart(chart, key="column")


def pairs(curator: Curator, candidate: Candidate, found: SimilarityReport) -> None:
    """Where pairs of columns came out wrong, and values that never go together."""
    score = found.score(measures.PAIRS)
    if score is None:
        st.info(_("This release has one column only, so there are no pairs."))
        return
    st.markdown(
        _(
            "**The pair that came out worst: {a} and {b}, {distance} of the rows would have to change.**"
        ).format(
            a=plain(score.worst[0]), b=plain(score.worst[1]), distance=percent(found.marginals.ways[1].worst)
        )
    )
    names = found.marginals.columns
    left, right = st.columns(2)
    with left:
        st.markdown(_("Rows that would have to change"))
        chart = charts.heatmap(names, found.marginals.pairs, title=_("total variation distance"))
        widgets.show_chart(chart, key="pairs")
    with right:
        release = candidate.release
        if release is not None and isinstance(release.model, SyntheticModel):
            st.markdown(_("Error that the noise explains (may be published)"))
            widgets.show_noise(release.model)
        else:
            st.markdown(_("How strongly two columns go together: change of Cramér's V"))
            change = abs(found.association[0] - found.association[1])
            widgets.show_chart(charts.heatmap(names, change, title=_("change of Cramér's V")), key="v")
    if found.impossible:
        st.markdown(_("**Values that never go together in the original:**"))
        st.dataframe(comparing.impossible_table(found), hide_index=True, key="impossible")
    _tell_apart(curator, candidate)


def questions(curator: Curator, candidate: Candidate, found: SimilarityReport) -> None:
    """Ranges of one column, against the original and against asking directly."""
    names = comparing.interval_columns(curator, candidate)
    if not names:
        st.info(_("Range questions need a column of numbers or dates, and this release has none."))
        return
    name = st.selectbox(_("Column"), names, key=f"question-column-{candidate.key[:8]}")
    bounds = comparing.bounds(curator, name)
    low, high = st.select_slider(
        _("How many rows have a value from … up to, and not including, …"),
        bounds,
        (bounds[0], bounds[len(bounds) // 2]),
        key=f"question-range-{name}",
    )
    ranges = comparing.ranges(curator, candidate, name, low, high)
    answer = ranges.named[0]
    left, middle, right = st.columns(3)
    left.metric(_("Answer from the release"), number(answer.answer))
    middle.metric(_("Off by"), _("undefined") if answer.percent is None else f"{number(answer.percent)} %")
    if answer.direct is not None:
        right.metric(
            _("Asked directly, typically"),
            f"{number(answer.direct.median)} %",
            help=_("One Laplace draw on this range alone. Every further range would be a further charge."),
        )
    widgets.show_chart(comparing.range_chart(ranges), key="ranges")


def _tell_apart(curator: Curator, candidate: Candidate) -> None:
    scored = heavy.known(("propensity", candidate.key))
    if scored is None:
        if not st.button(_("Can a classifier tell the tables apart?"), key="tell-apart"):
            return
        tell, done = progress(_("Training classifiers"))
        scored = heavy.tell_apart(curator, candidate, tell)
        done()
    st.markdown(
        _(
            "**A classifier tells released rows from original ones: score {value:.2f}.** 1 is not at all, "
            "0 is always. Another sample has {floor:.2f}, independent columns {independent:.2f}."
        ).format(value=scored.value, floor=scored.floor, independent=scored.independent)
    )


def _learning_words(curator: Curator, candidate: Candidate) -> str:
    keys = [key for key in session.session().reports if key[:2] == ("learning", candidate.key)]
    scores: tuple[Score, ...] = heavy.known(keys[-1]) if keys else ()
    of = {
        each.of: each.mean
        for each in scores
        if each.scenario == 2 and each.measure in ("accuracy", "r2") and each.of in ("release", "original")
    }
    if not of:
        return _("not asked")
    return f"{of['release']:.2f} ({of['original']:.2f})"


def _attack_words(curator: Curator, candidate: Candidate) -> str:
    keys = [key for key in session.session().reports if key[:2] == ("attacks", candidate.key)]
    if not keys:
        return _("not asked")
    found: Disclosure = heavy.known(keys[-1])
    if not found.control:
        return _("no control")
    return _("{found} of {all}").format(found=len(found.found), all=len(found.attacks))
