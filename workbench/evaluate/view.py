"""The quick part of the Evaluate page: verdict, overview, columns, pairs, questions."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
import streamlit as st

from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.attacks import Disclosure
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.similarity import SimilarityReport
from dpcore.progress import OnProgress
from dpcore.synthesis import SyntheticModel
from workbench import session
from workbench.evaluate import cards, columns_view, comparing, heavy
from workbench.evaluate.candidates import Candidate
from workbench.evaluate.charts import scales
from workbench.evaluate.verdict import Judgement, kept_relations, verdict, verdict_of_learning
from workbench.ui import charts, progress_view, widgets
from workbench.ui.language import _
from workbench.ui.wording import hundredths, number, percent, plain


def told(title: str, *, patience: float = 0.0) -> AbstractContextManager[OnProgress]:
    """A bar that tells the stage of what takes long, beside a way to stop; after `patience` seconds."""
    stages = {
        "attacking": _("attacking"),
        "making it again": _("making it again from half of the people"),
        "telling the tables apart": _("telling the tables apart"),
        **heavy.task_titles(),
    }
    return progress_view.told(title, stages, key="stop-heavy", patience=patience)


def judged(curator: Curator, candidate: Candidate, found: SimilarityReport) -> Judgement:
    """The verdict; of a release that was made to learn from, by that first."""
    label = heavy.made_for(candidate)
    if label is None:
        return verdict(found, ours=candidate.release is not None)
    try:
        with told(_("Learning"), patience=progress_view.PATIENCE) as tell:
            learned = heavy.learned_quickly(curator, candidate, label, tell)
    except DpcoreError as error:  # too few people to test on, for instance
        widgets.error_box(error)
        return verdict(found, ours=True)
    return verdict_of_learning(learned, verdict(found, ours=False))


def overview(curator: Curator, candidate: Candidate, found: SimilarityReport, judged: Judgement) -> None:
    """The verdict, and at most six figures."""
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
    learned, learned_help = _learning_words(candidate)
    cells[4].metric(_("Learning"), learned, help=learned_help)
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
    columns_view.show_cards(cards.of_pairs(found), key="cards-pairs")
    st.caption(_("Each card: one column with all others, in wide cells, where every relation counts."))
    shown = widgets.choose_readable(found.marginals.columns, found.marginals.pairs, key="pairs-columns")
    names = [found.marginals.columns[i] for i in shown]
    distances = found.marginals.pairs[np.ix_(shown, shown)]
    maps = [np.tril(distances, -1)]
    release = candidate.release
    model = release.model if release is not None else None
    if isinstance(model, SyntheticModel):
        maps.append(np.tril(np.nan_to_num(model.noise_errors().to_numpy()[np.ix_(shown, shown)]), -1))
    end = max(0.01, *(float(each.max(initial=0)) for each in maps))
    left, right = st.columns(2)
    with left:
        st.markdown(_("Rows that would have to change"))
        chart = charts.heatmap(names, distances, title=_("share of rows"), end=end)
        widgets.show_chart(chart, key="pairs")
    with right:
        if isinstance(model, SyntheticModel):
            st.markdown(_("Error that the noise explains (may be published)"))
            widgets.show_noise(model, shown=shown, end=end)
        else:
            st.markdown(_("Strength of the relation of two columns: change of Cramér's V"))
            change = abs(found.association[0] - found.association[1])[np.ix_(shown, shown)]
            chart = charts.heatmap(names, change, title=_("change of Cramér's V"), end=end)
            widgets.show_chart(chart, key="v")
    if found.impossible:
        st.markdown(_("**Values that never go together in the original:**"))
        st.dataframe(comparing.impossible_table(found), hide_index=True, key="impossible")
    _tell_apart(curator, candidate)


def ranges(curator: Curator, candidate: Candidate) -> None:
    """Ranges of one column, against the original and against asking directly; counts are enough."""
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
    titles = {
        "counts": _("its noisy counts"),
        "rows": _("{rows:,} drawn rows").format(rows=len(candidate.table.frame))
        if candidate.release is not None
        else _("its rows"),
        "original": _("the original itself"),
    }
    answering = comparing.answering(candidate, name)
    answered_from = st.segmented_control(
        _("Answered from"),
        answering,
        default=answering[0],
        required=True,
        format_func=titles.__getitem__,
        key=f"question-source-{candidate.key[:20]}-{name}",
    )
    found = comparing.ranges(curator, candidate, name, low, high, answered_from=answered_from or answering[0])
    answer = found.named[0]
    exact, left, middle, right = st.columns(4)
    exact.metric(_("In the original"), f"{answer.true:,}")
    left.metric(_("Answer from the release"), number(answer.answer))
    middle.metric(_("Off by"), _("undefined") if answer.percent is None else hundredths(answer.percent))
    if answer.direct is not None:
        right.metric(
            _("Asked directly, typically"),
            hundredths(answer.direct.median),
            help=_("One Laplace draw on this range alone. Every further range would be a further charge."),
        )
    widgets.show_chart(comparing.range_chart(found), key="ranges")


def _tell_apart(curator: Curator, candidate: Candidate) -> None:
    scored = heavy.known(("propensity", candidate.key))
    if scored is None:
        if not st.button(_("Can a classifier tell the tables apart?"), key="tell-apart"):
            return
        with told(_("Training classifiers")) as tell:
            scored = heavy.tell_apart(curator, candidate, tell)
    st.markdown(
        _(
            "**A classifier tells released rows from original ones: score {value:.2f}.** 1 is not at all, "
            "0 is always. Another sample has {floor:.2f}, independent columns {independent:.2f}."
        ).format(value=scored.value, floor=scored.floor, independent=scored.independent)
    )


def _learning_words(candidate: Candidate) -> tuple[str, str]:
    """The figure, and what it is: the accuracy of the last learner, or R² where no classes were predicted."""
    accuracy = _("Accuracy of a model that learned from the release; in brackets, from the original.")
    fit = _("R² of a model that learned from the release; in brackets, from the original.")
    learned = heavy.learned(candidate)
    if learned is None:
        return _("not computed"), accuracy
    own, best = (f"{learned.of[side]:.2f}" for side in ("release", "original"))
    if learned.measure == "accuracy":
        return f"{own} ({best})", accuracy
    return _("R² {own} ({best})").format(own=own, best=best), fit


def _attack_words(curator: Curator, candidate: Candidate) -> str:
    keys = [key for key in session.session().reports if key[:2] == ("attacks", candidate.key)]
    if not keys:
        return _("not computed")
    found: Disclosure = heavy.known(keys[-1])
    if not found.control:
        return _("no control")
    return _("{found} of {all}").format(found=len(found.found), all=len(found.attacks))
