"""The tab Learning: models trained on the release and on the original."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.utility.learning import (
    HIGHER_IS_BETTER,
    LEARNING_TASKS,
    LearningQuestion,
    Score,
    can_predict,
    sort_by_likely_target,
)
from dpcore.evaluation.utility.similarity import SimilarityReport
from dpcore.synthesis import GaussianModel
from workbench import session
from workbench.evaluate.charts import scores_chart
from workbench.evaluate.form import Candidate
from workbench.evaluate.report import (
    LEARNER_TITLES,
    LearningScore,
    computed_report,
    progress,
)
from workbench.language.messages import (
    N_,
    _,
    capital,
    join_with_commas,
    name_and_text,
    translate_table,
)
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import escape_markdown
from workbench.ui import progress_view, widgets
from workbench.ui.method_charts import SCENARIOS

TEST_SPLITS = 3  # random splits into rows for training and rows for testing
MEASURES = {
    "accuracy": N_("accuracy, share of right answers"),
    "f1": N_("F1, mean over the classes"),
    "mse": N_("mean squared error (target scaled to -1 to 1)"),
    "r2": N_("R², share of the variance explained"),
    "nmi": N_("agreement of the groups (NMI)"),
}
COMPARED_TITLES = {
    "release": N_("release"),
    "original": N_("original, no privacy"),
    "majority": N_("one answer for all"),
    "shuffled": N_("shuffled labels"),
}


def show_learning(
    curator: Curator, candidate: Candidate, similarity: SimilarityReport
) -> None:
    """Show scores of models trained on the release and on the original."""
    st.caption(textbook_names("utility"))
    names = target_columns(curator, candidate)
    if len(names) < 2:
        st.info(_("This release has only one column."))
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = st.selectbox(
            _("Column to predict"), names, key=f"learn-target-{candidate.key[:8]}"
        )
        tasks = widgets.ask_by_title(
            st.multiselect,
            capital("learner"),
            translate_table(LEARNER_TITLES),
            list(LEARNING_TASKS[:3]),
            key="learn-tasks",
        )
        splits = st.number_input(
            capital("splits"), 1, 10, TEST_SPLITS, key="learn-splits"
        )
    column = curator.schema.column(target)
    idle = [task for task in tasks if not can_predict(task, column)]
    if idle:
        learners = join_with_commas(_(LEARNER_TITLES[learner]) for learner in idle)
        st.caption(
            _("Not for {column}: {learners}.").format(
                column=escape_markdown(target), learners=learners
            )
        )
    tasks = [task for task in tasks if task not in idle]
    if computed_report(learning_key(candidate, target, tasks, int(splits))) is None:
        if not tasks or not st.button(_("Learn"), type="primary", key="learn"):
            st.caption(
                _(
                    "Each split learns from 80 % of the people and tests on the "
                    "others. The first three learners are fast."
                )
            )
            return
        train_models(curator, candidate, target, tasks, int(splits))
        st.rerun()  # redraw the overview above, which shows this figure
    scored: tuple[Score, ...] = computed_report(
        learning_key(candidate, target, tasks, int(splits))
    )
    measured = {score.measure for score in scored}
    titles = {
        measure: title
        for measure, title in translate_table(MEASURES).items()
        if measure in measured
    }
    measure = widgets.choose(_("Measure"), titles, key="learn-measure")
    better = name_and_text(_("better"), "↑" if HIGHER_IS_BETTER[measure] else "↓")
    for scenario in (2, 1):
        st.markdown(f"**{_(SCENARIOS[str(scenario)])}** ({better})")
        frame = scores_table(scored, measure, scenario)
        widgets.show_chart(
            scores_chart(frame, title=_(MEASURES[measure])), key=f"scores-{scenario}"
        )
    st.caption(
        _(
            "Lines show the spread over the splits. If the release scores above the "
            "original, it is easier to learn from, not better. The release was made "
            "from all counted rows, including those used for testing."
        )
    )


def train_models(
    curator: Curator,
    candidate: Candidate,
    target: str,
    tasks: Sequence[str],
    splits: int,
    patience: float = 0.0,
) -> None:
    """Train models on the candidate and the original, with a progress bar.

    The bar appears after `patience` seconds.
    """
    with progress(_("Learning"), key="stop-heavy", patience=patience) as on_progress:
        progress_view.evaluate_in_line(
            curator,
            learning_key(candidate, target, tasks, splits),
            lambda: LearningQuestion(
                table=candidate.table,
                target=target,
                tasks=tuple(tasks),
                splits=splits,
            ),
            on_progress,
        )


def learning_key(
    candidate: Candidate, target: str, tasks: Sequence[str], splits: int
) -> tuple[object, ...]:
    """Return the session's key of the scores."""
    return ("learning", candidate.key, target, tuple(tasks), splits)


def last_scores(
    candidate: Candidate, target: str | None = None
) -> LearningScore | None:
    """Return the last scores of the candidate; None before any.

    Args:
        target: None for any.
    """
    for key in reversed(list(session.session().reports)):
        if key[:2] != ("learning", candidate.key) or target not in (None, key[2]):
            continue
        for measure in ("accuracy", "r2"):
            tested = [
                score
                for score in computed_report(key)
                if (score.scenario, score.measure) == (2, measure)
            ]
            of = {
                score.model_name: score.mean for score in tested
            }  # of the last learner
            if of:
                return LearningScore(
                    target=str(key[2]), measure=measure, score_of_source=of
                )
    return None


def last_or_quick_scores(
    curator: Curator, candidate: Candidate, label: str, patience: float
) -> LearningScore:
    """Return the last scores for a label; if there are none, train one learner."""
    if last_scores(candidate, label) is None:
        task = next(
            task
            for task in LEARNING_TASKS
            if can_predict(task, curator.schema.column(label))
        )
        train_models(curator, candidate, label, (task,), TEST_SPLITS, patience)
    scores = last_scores(candidate, label)
    assert scores is not None
    return scores


def target_columns(curator: Curator, candidate: Candidate) -> list[str]:
    """Return the columns that can be predicted, the release's own label first."""
    names = [
        name for name in curator.schema.domain.names if name in candidate.table.frame
    ]
    label = learning_label(candidate)
    return sorted(
        sort_by_likely_target(curator.schema, names), key=lambda name: name != label
    )


def learning_label(candidate: Candidate) -> str | None:
    """Return the label that a release was made to predict; None for other tables."""
    model = None if candidate.release is None else candidate.release.model
    return model.label if isinstance(model, GaussianModel) else None


def scores_table(scores: Sequence[Score], measure: str, scenario: int) -> pd.DataFrame:
    """Return one line per learner and table."""
    return pd.DataFrame(
        [
            {
                "task": _(LEARNER_TITLES[score.task]),
                "of": _(COMPARED_TITLES[score.model_name]),
                "mean": score.mean,
                "low": score.mean - score.standard_deviation,
                "high": score.mean + score.standard_deviation,
                "runs": score.split_count,
            }
            for score in scores
            if score.measure == measure and score.scenario == scenario
        ],
    )
