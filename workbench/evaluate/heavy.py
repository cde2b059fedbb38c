"""What takes longer and runs when it is asked for: learning, attacks, canaries. All of it is internal."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pandas as pd

from dpcore.curator import Curator
from dpcore.evaluation.attacks import Attacks, CanaryReport, Disclosure, HeldOut, canary_audit
from dpcore.evaluation.utility.learning import TASKS, Efficacy, Score, applies, likely_labels
from dpcore.evaluation.utility.measures import Scored
from dpcore.evaluation.utility.propensity import Propensity
from dpcore.progress import OnProgress
from dpcore.synthesis import GaussianModel
from workbench import session
from workbench.evaluate import again
from workbench.evaluate.candidates import Candidate
from workbench.evaluate.verdict import Learned
from workbench.ui import widgets
from workbench.ui.language import _

CANARIES = 1_000
SPLITS = 3
Key = tuple[Any, ...]


def known(key: Key) -> Any:
    """The content of a report that was computed in this session; None before."""
    report = session.session().reports.get(key)
    return getattr(report, "content", report)


def targets(curator: Curator, candidate: Candidate) -> list[str]:
    """Columns that can be predicted: the label that a release was made for, then the likeliest."""
    names = [name for name in curator.schema.domain.names if name in candidate.table.frame]
    label = made_for(candidate)
    return sorted(likely_labels(curator.schema, names), key=lambda name: name != label)


def made_for(candidate: Candidate) -> str | None:
    """The label of a release that was made to learn from; None for every other table."""
    model = None if candidate.release is None else candidate.release.model
    return model.label if isinstance(model, GaussianModel) else None


def learning_key(candidate: Candidate, target: str, tasks: Sequence[str], splits: int) -> Key:
    """Under which the scores are kept."""
    return ("learning", candidate.key, target, tuple(tasks), splits)


def learn(curator: Curator, candidate: Candidate, key: Key, on_progress: OnProgress) -> tuple[Score, ...]:
    """Scores of models that learned from the candidate and from the original."""
    _name, _key, target, tasks, splits = key
    return widgets.once_in_line(
        curator,
        key,
        lambda: Efficacy(release=candidate.table, target=target, tasks=tasks, splits=splits),
        on_progress,
    )


def learned(candidate: Candidate, target: str | None = None) -> Learned | None:
    """The last scores of the candidate; None before any. Args: target: None for any."""
    for key in reversed(list(session.session().reports)):
        if key[:2] != ("learning", candidate.key) or target not in (None, key[2]):
            continue
        for measure in ("accuracy", "r2"):
            tested = [each for each in known(key) if (each.scenario, each.measure) == (2, measure)]
            of = {each.of: each.mean for each in tested}  # of the last learner
            if of:
                return Learned(target=str(key[2]), measure=measure, of=of)
    return None


def learned_quickly(curator: Curator, candidate: Candidate, label: str, on_progress: OnProgress) -> Learned:
    """The same of one target; where nobody has asked, by the first learner that applies."""
    if (found := learned(candidate, label)) is None:
        task = next(task for task in TASKS if applies(task, curator.schema.column(label)))
        learn(curator, candidate, learning_key(candidate, label, (task,), SPLITS), on_progress)
        found = learned(candidate, label)
    assert found is not None
    return found


def task_titles() -> dict[str, str]:
    """The learners, in words."""
    return {
        "logistic": _("logistic regression"),
        "linear": _("linear regression"),
        "k-means": _("groups (k-means)"),
        "trees": _("boosted trees"),
        "svm": _("support vector machine"),
    }


def measure_titles() -> dict[str, str]:
    """The measures of learning, in words."""
    return {
        "accuracy": _("accuracy, share of right answers"),
        "f1": _("F1, mean over the classes"),
        "mse": _("mean squared error, of a target from -1 to 1"),
        "r2": _("R², share of the variance explained"),
        "nmi": _("agreement of the groups (NMI)"),
    }


def scores_table(found: Sequence[Score], measure: str, scenario: int) -> pd.DataFrame:
    """One line per learner and what it is compared with."""
    of = {
        "release": _("release"),
        "original": _("original, no privacy"),
        "majority": _("one answer for all"),
        "shuffled": _("shuffled labels"),
    }
    return pd.DataFrame(
        [
            {
                "task": task_titles()[each.task],
                "of": of[each.of],
                "mean": each.mean,
                "low": each.mean - each.spread,
                "high": each.mean + each.spread,
                "runs": each.runs,
            }
            for each in found
            if each.measure == measure and each.scenario == scenario
        ]
    )


def attacks_key(candidate: Candidate, secret: str | None, control: str) -> Key:
    """Under which the attacks are kept; `control` names where the control is from."""
    return ("attacks", candidate.key, secret, control)


def attack(
    curator: Curator, candidate: Candidate, key: Key, control: pd.DataFrame | None, on_progress: OnProgress
) -> Disclosure:
    """Attack the rows as they are, with the control table that somebody brought, if any."""
    return widgets.once_in_line(
        curator,
        key,
        lambda: Attacks(
            release=type(candidate.table)(candidate.rows),
            control=control,
            secret=key[2],
        ),
        on_progress,
    )


def attack_again(
    curator: Curator,
    key: Key,
    made: again.Made,
    on_progress: OnProgress,
) -> Disclosure:
    """Attack what the recipe makes from half of the people; the other half is the control."""
    return widgets.once_in_line(
        curator,
        key,
        lambda: HeldOut(make=made.rows, secret=key[2]),
        on_progress,
    )


def attack_titles() -> dict[str, str]:
    """The attacks, in words."""
    return {
        "exact copies": _("a released row is somebody's row"),
        "closest record": _("a released row is closer to people in it"),
        "singling out by one column": _("a question about one column finds one person"),
        "singling out by several columns": _("a question about three columns finds one person"),
        "linkability": _("two lists of the same people are joined"),
        "inference": _("an unknown value is guessed"),
    }


def attacks_table(found: Disclosure) -> pd.DataFrame:
    """One line per attack and group of people, with the interval of its rate."""
    lines = []
    for each in found.attacks:
        for name, rate in (
            (_("people in the release"), each.rate),
            (_("other people (control)"), each.control),
            (_("without the release (baseline)"), each.baseline),
        ):
            if rate is not None:
                low, high = rate.interval()
                lines.append(
                    {
                        "attack": attack_titles()[each.attack],
                        "of": name,
                        "rate": rate.value,
                        "low": low,
                        "high": high,
                        "attempts": rate.attempts,
                    }
                )
    return pd.DataFrame(lines)


def tell_apart(curator: Curator, candidate: Candidate, on_progress: OnProgress) -> Scored:
    """Whether a classifier can tell the candidate from the original."""
    return widgets.once_in_line(
        curator,
        ("propensity", candidate.key),
        lambda: Propensity(release=candidate.table),
        on_progress,
    )


def canaries_key(candidate: Candidate) -> Key:
    """Under which the audit with canaries is kept."""
    return ("canaries", candidate.key)


def audit_with_canaries(candidate: Candidate) -> CanaryReport:
    """One run of the candidate's recipe on rows drawn from it, with canaries. Reads nothing private."""
    release, key = candidate.release, canaries_key(candidate)
    assert release is not None
    schema = again.without_people(release.schema)
    make = again.maker(release, schema)
    assert make is not None
    delta = float(Fraction(release.guarantee.loss.get("delta", "0")))
    audit = functools.partial(canary_audit, canaries=CANARIES, delta=delta)
    found = widgets.compute_in_line(audit, make, candidate.rows, schema)
    session.session().reports[key] = found
    return found
