"""Propose cells that fit the number of rows that the owner of a draft states."""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from dpcore.accounting.loss import Loss
from dpcore.schema import Column, PrivacyUnit, Schema
from dpcore.synthesis import Adaptive, Marginals, Recipe, SomeColumns
from dpcore.synthesis.discrete.recipes import table_recipe_arguments
from dpcore.synthesis.proposal import Proposal, propose_cells
from workbench.language.columns import join_parts, split_parts
from workbench.language.messages import N_, _
from workbench.session.draft import Draft, FileDraft, NamesDraft, ProposedCells
from workbench.ui import reopening
from workbench.upload import grid

SIZE_CLASSES = {
    100: N_("about 100"),
    1_000: N_("about 1,000"),
    10_000: N_("about 10,000"),
    100_000: N_("about 100,000"),
    1_000_000: N_("1 million or more"),
}
"""Numbers of rows that an owner can state."""
_PROPOSED_FIELDS = ("kind", "low", "high", "step", "special", "reason")
"""Fields of a grid line that a proposal may change."""
_STEP_FACTS = ("bin_width", "step", "special")


def public_row_count(draft: Draft) -> int | None:
    """Return the number of rows if it is public already; None if it must be asked."""
    if isinstance(draft, NamesDraft):
        return draft.expected_rows
    if isinstance(draft, FileDraft) and draft.is_sample:
        return reopening.SAMPLES[draft.sample].rows
    return None


def fit_cells(
    draft: Draft,
    unit: PrivacyUnit,
    loss: Loss | None,
    kind: str,
    *,
    rows: int | None,
    finer: Collection[str],
) -> None:
    """Write the proposed cells into the grid of a draft, or take them back.

    Lines that a person changes after that stay as they are.

    Args:
        loss: of the planned release, under the rule of the account.
        kind: of the release.
        rows: about how many rows the table has, as stated; None takes proposals back.
        finer: columns that keep their own cells.
    """
    lines = _lines_without_proposal(draft)
    before = draft.proposed_cells.schema or draft.schema
    schema, _problems = grid.from_grid(lines, before, unit)
    if schema is None:
        return
    proposal = Proposal(schema=schema)
    # a table for learning is drawn from normal laws, not from cells
    if rows is not None and loss is not None and kind != "learning":
        without_line = {*schema.domain.names}.difference(lines["column"])
        proposal = propose_cells(
            schema,
            lambda columns: _recipe(kind, columns),
            loss,
            rows=rows,
            fixed={*finer, *draft.proposed_cells.changed_by_hand, *without_line},
            related=kind == "table",
        )
    noted = _write_proposal(draft, lines, schema, proposal)
    if not noted.equals(draft.edited_grid):
        draft.edited_grid = noted
        draft.version += 1
        draft.answers.grid_before = None
    draft.schema = _with_proposal(before, schema, proposal)


def _recipe(kind: str, columns: Sequence[Column]) -> Recipe:
    """Return the recipe that the page of releases plans for these columns."""
    names = tuple(column.name for column in columns)
    if kind == "marginals" or len(columns) == 1:
        return Marginals(cliques=tuple((name,) for name in names))
    return SomeColumns(
        columns=names, recipe=Adaptive(**table_recipe_arguments(columns))
    )


def _lines_without_proposal(draft: Draft) -> pd.DataFrame:
    """Return the lines without earlier proposals, and note lines changed by hand."""
    lines = draft.edited_grid.copy()
    for place in lines.index:
        proposed = draft.proposed_cells.lines.get(str(lines.at[place, "column"]))
        if proposed is None:
            continue
        told = split_parts(lines.at[place, "told"])
        lines.at[place, "told"] = join_parts(
            note for note in told if note not in proposed.notes
        )
        now = _line_fields(lines, place)
        if now == proposed.after:
            for field, value in proposed.before.items():
                lines.at[place, field] = value
        elif all(now[field] == proposed.after[field] for field in ("low", "high")):
            # The person chose another step, not only other bounds.
            draft.proposed_cells.changed_by_hand.add(str(lines.at[place, "column"]))
    return lines


def _write_proposal(
    draft: Draft, lines: pd.DataFrame, schema: Schema, proposal: Proposal
) -> pd.DataFrame:
    """Return the lines with a proposal written into them, and keep their old
    contents.
    """
    noted = lines.copy()
    kept = ProposedCells(
        schema=draft.proposed_cells.schema or draft.schema,
        changed_by_hand=draft.proposed_cells.changed_by_hand,
        coarser_columns=proposal.coarser_columns,
        unreadable_columns=proposal.left_out_columns,
        is_readable=proposal.is_readable,
    )
    for place in lines.index:
        name = str(lines.at[place, "column"])
        notes: tuple[str, ...] = ()
        if name in proposal.left_out_columns:
            noted.at[place, "kind"] = grid.LEAVE_OUT
            noted.at[place, "reason"] = _(proposal.left_out_columns[name])
        elif name in proposal.coarser_columns:
            column = proposal.schema.column(name)
            line = grid.grid_line(column)
            for field in ("low", "high", "step", "special"):
                noted.at[place, field] = line[field]
            notes = tuple(
                grid.answer_note(column, fact)
                for fact in _public_steps(schema.column(name), column)
            )
            told = split_parts(lines.at[place, "told"])
            noted.at[place, "told"] = join_parts(dict.fromkeys([*told, *notes]))
        else:
            continue
        kept.lines[name] = ProposedCells.Line(
            before=_line_fields(lines, place),
            after=_line_fields(noted, place),
            notes=notes,
        )
    draft.proposed_cells = kept
    return noted


def _with_proposal(before: Schema, schema: Schema, proposal: Proposal) -> Schema:
    """Return the original declaration with the proposed cells.

    Steps that follow from told facts and the stated number of rows lose their marks;
    other steps get one, and bounds, lists and kinds keep theirs, whatever was answered
    about them since.
    """
    # If only coarser steps were marked, the mark would reveal that they are coarser.
    steps_looked_up = {
        column.name: [fact for fact in column.from_data if fact in _STEP_FACTS]
        for column in proposal.schema.columns
    }
    columns = []
    for column in before.columns:
        if column.name in proposal.left_out_columns:
            continue
        if column.name in proposal.coarser_columns:
            coarser = proposal.schema.column(column.name)
            public = _public_steps(schema.column(column.name), coarser)
            coarser = dataclasses.replace(
                coarser,
                known_from=column.known_from,
                reason=column.reason,
                from_data=tuple(
                    fact
                    for fact in dict.fromkeys((*column.from_data, *coarser.from_data))
                    if fact not in public
                ),
            )
            columns.append(coarser)
        else:
            marks = (*column.from_data, *steps_looked_up.get(column.name, ()))
            marks = tuple(dict.fromkeys(fact for fact in marks if fact in column.facts))
            columns.append(dataclasses.replace(column, from_data=marks))
    left_out = tuple(
        column
        for column in proposal.schema.excluded
        if column.name in proposal.left_out_columns
    )
    return dataclasses.replace(
        before, columns=tuple(columns), excluded=(*before.excluded, *left_out)
    )


def _public_steps(before: Column, after: Column) -> tuple[str, ...]:
    """Return the step facts that follow from answers and the stated number of rows."""
    return tuple(
        fact
        for fact in _STEP_FACTS
        if fact in after.facts
        and fact not in after.from_data
        and getattr(before, fact, None) != getattr(after, fact)
    )


def _line_fields(lines: pd.DataFrame, place: Any) -> dict[str, Any]:
    return {field: lines.at[place, field] for field in _PROPOSED_FIELDS}
