"""Runs of releases."""

from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator
from dpcore.release import Release
from dpcore.synthesis import Recipe
from workbench import session
from workbench.language.messages import capital
from workbench.server.workers.callbacks import rows_reported_to
from workbench.session.run import Run
from workbench.store.start import ledger as shared_ledger
from workbench.synthesize.recipe_form import RecipeForm
from workbench.synthesize.state import SynthesizeState
from workbench.ui import epsilon_view


def start(
    curator: Curator,
    recipe: Recipe,
    loss: AnyLoss,
    part: dict[str, str],
    request_id: str,
) -> None:
    """Run once for this request id, in a thread; a second click with the same id is the
    same run.
    """
    tab = session.session()
    if request_id != tab.request_id:
        return
    tab.shown = None

    def run(running: Run) -> Release:
        with rows_reported_to(running.listen):
            return curator.run(
                recipe,
                loss,
                part=part or None,
                request_id=request_id,
                on_progress=running.progress,
            )

    tab.start(capital("release"), run)


def stop() -> None:
    """Stop the run, whether it waits in line or computes."""
    running = session.session().running
    if running is not None:
        running.stopped.set()


def is_kept(running: Run) -> bool:
    """Say whether the run was paid and ended well, and only the database could not take
    its release yet.
    """
    return shared_ledger().is_kept(running.request_id)


def kept(running: Run) -> tuple[str, str] | None:
    """Return the data set of such a run, and its release as text."""
    dataset = session.session().current
    text = (
        None
        if dataset is None
        else shared_ledger().kept(dataset).get(running.request_id)
    )
    return None if dataset is None or text is None else (dataset, text)


def is_stored(running: Run) -> bool:
    """Say whether its release came into the ledger after all."""
    return "committed" in _states(running)


def is_charged(running: Run) -> bool:
    """Say whether its charge is on file, also where the answer to that was lost."""
    return running.charged or bool(_states(running))


def _states(running: Run) -> set[str]:
    curator = session.session().curator
    lines = curator.lines() if curator else ()
    return {line.state for line in lines if line.request_id == running.request_id}


def store_again(request_id: str) -> None:
    """Try once more to store a paid release; it is shown if the database takes it
    now.
    """
    ledger = shared_ledger()
    ledger.store_kept()
    if not ledger.is_kept(request_id):
        show(request_id)


def show(request_id: str | None) -> None:
    """Show a stored release, which costs nothing; or, with None, the plan of another
    one.
    """
    tab = session.session()
    tab.shown = request_id
    tab.running = None


def choose_kind(kind: str) -> None:
    """Plan a release of this kind."""
    session.own(SynthesizeState).kind = kind


def planned() -> Curator | None:
    """Return on what releases are planned without rows; None where they are made."""
    draft = session.session().draft
    return None if draft is None else draft.plan


def take_note() -> None:
    """Plan the kind of release that another page proposed, if any."""
    note = session.take(session.PlanRelease)
    curator = planned() or session.session().curator
    if note is None:
        return
    show(None)
    choose_kind(note.kind)
    if note.epsilon is not None and curator is not None:
        dataset = curator.account.dataset
        left = epsilon_view.left(curator)
        epsilon_view.box(f"loss-{dataset}").put(min(note.epsilon, left) or note.epsilon)
        names = list(note.columns or curator.schema.domain.names)
        RecipeForm.of_kind(note.kind).fill_in(names, dataset)
