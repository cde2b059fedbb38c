"""What the Synthesize page builds and starts: a recipe, its quote, one run, its downloads."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator
from dpcore.release import Release
from dpcore.synthesis import Adaptive, Independent, Joint, Recipe, SomeColumns, Tree
from dpcore.synthesis.discrete.constraints import Constraints, Determines, Impossible
from workbench import session
from workbench.apart import learning
from workbench.apart.listening import heard_by
from workbench.session.run import Run
from workbench.store.start import ledger as shared_ledger
from workbench.synthesize.state import SynthesizeState
from workbench.ui.language import N_, Words, _, said


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One of the cards to choose from."""

    key: str
    title: str
    icon: str
    text: str


KINDS = (
    Kind(
        key="histogram",
        title=N_("One column"),
        icon=":material/bar_chart:",
        text=N_("A histogram: noisy counts of one column, with error bars."),
    ),
    Kind(
        key="marginals",
        title=N_("A few columns together"),
        icon=":material/grid_on:",
        text=N_("Marginals: noisy tables of chosen sets of columns, which agree with each other."),
    ),
    Kind(
        key="table",
        title=N_("A whole table"),
        icon=":material/table_rows:",
        text=N_("Synthetic rows that follow noisy counts. No row belongs to a person."),
    ),
    Kind(
        key="learning",
        title=N_("A table for learning"),
        icon=":material/model_training:",
        text=N_("Numbers with a label, class by class, to train and test models on (Gaussian)."),
    ),
    Kind(
        key="statistics",
        title=N_("Mean and median"),
        icon=":material/functions:",
        text=N_("Mean, spread and quantiles of one column, with intervals."),
    ),
)


RELATIONS = Words(
    {
        "adaptive": N_("keep as many as the budget allows (Adaptive)"),
        "tree": N_("keep the strongest, a quick preview (Tree)"),
        "joint": N_("keep all of them, few columns only (Joint)"),
        "independent": N_("drop them (Independent)"),
    }
)


def table_recipe(
    columns: list[str],
    relations: str,
    *,
    constraints: Constraints,
    weights: dict[tuple[str, ...], float],
    ordered: list[str],
) -> Recipe | None:
    """The recipe of a synthetic table; None while no column is chosen."""
    if not columns:
        return None
    if relations == "joint":
        return Joint(columns=tuple(columns))
    if relations == "independent":
        return Independent(columns=tuple(columns))
    if relations == "tree":
        recipe: Recipe = Tree(ordered=frozenset(ordered), constraints=constraints)
    else:
        recipe = Adaptive(ordered=frozenset(ordered), constraints=constraints, weights=weights)
    return SomeColumns(columns=tuple(columns), recipe=recipe)


def size_words(curator: Curator, recipe: Recipe) -> list[str]:
    """What the recipes that choose their own tables do, and how large that is; from public facts."""
    if recipe.choosing is None:
        return []
    domain = curator.schema.domain
    pairs = list(itertools.combinations(recipe.reads(domain), 2))
    cells = sum(domain.cells(pair) for pair in pairs)
    return [
        _("The bars are the error of single columns. Which pairs are measured is decided on the way."),
        _("{pairs:,} pairs with {cells:,} cells can be chosen from; it takes {seconds}.").format(
            pairs=len(pairs), cells=cells, seconds=said(recipe.choosing)
        ),
    ]


def fact_columns(fact: Impossible | Determines) -> set[str]:
    """The columns that a fact is about."""
    return set(fact.columns) if isinstance(fact, Impossible) else {fact.column, fact.target}


def fact_words(curator: Curator, fact: Impossible | Determines) -> str:
    """A fact as a sentence."""
    if isinstance(fact, Determines):
        return _("{column} decides {target}").format(column=fact.column, target=fact.target)
    sides = [
        f"{name} = " + _(" or ").join(curator.schema.column(name).labels[cell] for cell in cells)
        for name, cells in zip(fact.columns, fact.cells, strict=True)
    ]
    return _("never {facts}").format(facts=_(" and ").join(sides))


def cliques(columns: list[str], ways: str) -> list[tuple[str, ...]]:
    """The sets of columns that a choice of ways means: "one", "pairs" or "all"."""
    if ways == "all" or len(columns) == 1:
        return [tuple(columns)] if columns else []
    return list(itertools.combinations(columns, 1 if ways == "one" else 2))


def start(curator: Curator, recipe: Recipe, loss: AnyLoss, part: dict[str, str], request_id: str) -> None:
    """Run once for this request id, in a thread; a second click with the same id is the same run."""
    held = session.session()
    if request_id != held.request_id:
        return
    held.shown = None

    def run(running: Run) -> Release:
        elsewhere = learning.Apart(recipe, charged=running.charge, cancelled=running.stopped.is_set)
        with heard_by(running.listen):
            return curator.run(
                elsewhere, loss, part=part or None, request_id=request_id, on_progress=running.progress
            )

    held.start(_("Release"), run)


def stop() -> None:
    """Stop the run, whether it waits in line or computes."""
    running = session.session().running
    if running is not None:
        running.stopped.set()


def is_kept(running: Run) -> bool:
    """Whether the run was paid and ended well, and only the database could not take its release yet."""
    return shared_ledger().is_kept(running.request_id)


def is_stored(running: Run) -> bool:
    """Whether its release came into the ledger after all."""
    return "committed" in _states(running)


def is_charged(running: Run) -> bool:
    """Whether its charge is on file, also where the answer to that was lost."""
    return running.charged or bool(_states(running))


def _states(running: Run) -> list[str]:
    curator = session.session().curator
    return (
        [line.state for line in curator.lines() if line.request_id == running.request_id] if curator else []
    )


def store_again(request_id: str) -> None:
    """Try once more to store a paid release; it is shown if the database takes it now."""
    ledger = shared_ledger()
    ledger.store_kept()
    if not ledger.is_kept(request_id):
        show(request_id)


def show(request_id: str) -> None:
    """Show a stored release; it costs nothing."""
    held = session.session()
    held.shown, held.running = request_id, None


def back() -> None:
    """Back to planning a release."""
    held = session.session()
    held.shown, held.running = None, None


def choose_kind(kind: str) -> None:
    """Plan a release of this kind."""
    session.own(SynthesizeState).kind = kind


def take_note() -> None:
    """Plan the kind of release that another page asked for, if any."""
    note = session.take(session.PlanRelease)
    if note is not None:
        back()
        choose_kind(note.kind)
