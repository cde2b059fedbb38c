"""Pool this release with releases of other data holders, and draw rows from all."""

import streamlit as st

from dpcore.release import Release
from dpcore.synthesis import PooledReleases
from workbench import session
from workbench.language.messages import N_, _, capital, translate_table
from workbench.language.wording import guarantee_words, loss_words
from workbench.report.files import release_file
from workbench.server.workers import drawing
from workbench.ui import file_view
from workbench.ui.progress_view import compute_in_worker
from workbench.ui.widgets import ask_by_title, catch_and_show_errors, fold, show_rows

PEOPLE_CHOICES = {
    "unknown": N_("nobody can say"),
    "different": N_("different people"),
    "the same": N_("some people may be in several tables"),
}


def show(name: str, release: Release) -> None:
    """Ask for releases of other holders, and draw one table from all.

    Free: nothing private is read.

    Args:
        name: name of the data set, for the name of the file.
    """
    title = _("Pool with releases of other data holders")
    with (
        fold(title, key=f"open-pool-{release.request_id}") as is_open,
        catch_and_show_errors(),
    ):
        if not is_open:
            return
        st.write(
            _(
                "Upload the files “Noisy counts and model” that others made for the "
                "same columns. Each release adds as many rows to the pooled table "
                "as its noisy number of rows. This is free."
            )
        )
        key = f"pool-{release.request_id}"
        files = file_view.multiple_file_uploader(
            _("Noisy counts and model (JSON)"),
            type=["json"],
            key=f"{key}-files",
        )
        if not files:
            return
        people = ask_by_title(
            st.radio,
            _("Who is in these tables?"),
            translate_table(PEOPLE_CHOICES),
            horizontal=True,
            key=f"{key}-people",
        )
        others = [file_view.read_release_file(file) for file in files]
        pooled = PooledReleases(releases=(release, *others), people=people)
        rows = st.number_input(
            capital("rows"),
            0,
            1_000_000,
            min(round(pooled.total), 1_000_000),
            key=f"{key}-rows",
        )
        shown = session.compute_once(
            (key, people, int(rows), *(file.file_id for file in files)),
            lambda: compute_in_worker(drawing.draw_first_rows, pooled, int(rows)),
        )
        show_rows(shown, alt=_("The first drawn rows"))
        file_view.download(
            "CSV",
            lambda: drawing.csv_file(pooled, int(rows)),
            release_file(name, release, "pooled rows", "csv"),
            key=f"{key}-csv",
        )
        for place, guarantee in zip(
            st.columns(len(pooled.guarantees)), pooled.guarantees, strict=True
        ):
            place.markdown(
                "\n".join(f"- {sentence}" for sentence in guarantee_words(guarantee))
            )
        if pooled.loss is None:
            st.caption(
                _("Each promise covers its own table, so the losses are not added up.")
            )
        else:
            st.markdown(
                _(
                    "**All these releases together cost a person at most {loss}.**"
                ).format(loss=loss_words(pooled.loss)),
            )
