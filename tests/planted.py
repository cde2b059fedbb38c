"""Faults to plant one at a time, and the test that must catch each: `python -m
tests.planted [NUMBER ...]`.

Each run works on a copy of the project, so that the checkout stays as it is. It prints
a line a fault, and exits with the number of faults that were missed.
`architecture/test_planted.py` keeps the list true.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CAUGHT = 1
"""Pytest's exit code where a test failed; another means that it was not found or could
not run.
"""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One edit that breaks a guarantee.

    Attributes:
        breaks: what would no longer hold.
        file: from the root of the project.
        old, new: the code that is replaced, which occurs once, and what takes its
            place; blanks and line breaks do not matter.
        test: the one that must fail, as pytest names it.
    """

    breaks: str
    file: str
    old: str
    new: str
    test: str


def place_of(old: str) -> re.Pattern[str]:
    """Return what finds a piece of code, however the formatter has broken its lines."""
    words = re.findall(r"\w+|[^\w\s]", old)
    parts = [
        (",?" + r"\s*" if word in ")]}" else "") + re.escape(word) for word in words
    ]
    return re.compile(r"\s*".join(parts))


MEASURER = "dpcore/mechanisms/measurer.py"
LAWS = "tests/contracts/test_measurer.py::test_draws_follow_the_law_on_record"
SCALES = "tests/mechanisms/test_sensitivity.py::test_scales_keep_the_loss"
OLDER = "tests/workbench/store/test_sturdy.py::test_yesterdays_copy_stays_shut_until_it_is_accepted"

FAULTS = (
    Fault(
        breaks=(
            "distances get the noise of whole rows, though they are counted in parts "
            "of a row"
        ),
        file=MEASURER,
        old="noisy = self._draw_noise(self._distances(estimates), scale * GRAIN)",
        new="noisy = self._draw_noise(self._distances(estimates), scale)",
        test=LAWS,
    ),
    Fault(
        breaks="several distances cost as much as one",
        file=MEASURER,
        old=(
            "scale = noise_scale(max_rows=self.rows, queries=len(cliques), loss=loss)\n        self._spend"
        ),
        new=(
            "scale = noise_scale(max_rows=self.rows, queries=1, loss=loss)\n        self._spend"
        ),
        test=LAWS,
    ),
    Fault(
        breaks="a private choice has half of its noise",
        file=MEASURER,
        old="select_high_score(scores, noise_scale=scale * GRAIN, is_pure=pure)",
        new="select_high_score(scores, noise_scale=scale * GRAIN / 2, is_pure=pure)",
        test=LAWS,
    ),
    Fault(
        breaks=(
            "a quantile is chosen with the noise of one row, though a row changes "
            "its scores by more"
        ),
        file=MEASURER,
        old="noise_scale=round_up_to_float(Fraction(scale) * denominator)",
        new="noise_scale=round_up_to_float(Fraction(scale))",
        test=LAWS,
    ),
    Fault(
        breaks="counts of several rows a person have the noise of one",
        file=MEASURER,
        old=(
            "scales = [noise_scale(max_rows=self.rows, queries=1, loss=part) for part in parts]"
        ),
        new="scales = [noise_scale(max_rows=1, queries=1, loss=part) for part in parts]",
        test=LAWS,
    ),
    Fault(
        breaks="a delta can be spent twice",
        file=MEASURER,
        old="        self._purse.delta -= delta\n",
        new="",
        test="tests/mechanisms/test_measurer.py::test_naming_texts_is_paid_for_in_delta_too",
    ),
    Fault(
        breaks="a loss can be spent twice",
        file=MEASURER,
        old="        self._purse.loss -= loss.amount\n",
        new="",
        test="tests/mechanisms/test_measurer.py::test_views_share_one_loss",
    ),
    Fault(
        breaks="Gaussian noise grows too slowly with the rows of a person",
        file="dpcore/mechanisms/sensitivity.py",
        old="Fraction(max_rows**2 * queries) / (2 * rho)",
        new="Fraction(max_rows * queries) / (2 * rho)",
        test=SCALES,
    ),
    Fault(
        breaks="permute and flip has half of its noise, in scale and record",
        file="dpcore/mechanisms/sensitivity.py",
        old="return round_up_to_float(Fraction(2 * max_rows) / loss.epsilon)",
        new="return round_up_to_float(Fraction(max_rows) / loss.epsilon)",
        test=SCALES,
    ),
    Fault(
        breaks="noise on sums is drawn too near",
        file="dpcore/mechanisms/max_norm.py",
        old="for _ in range(entries + 1))",
        new="for _ in range(entries))",
        test="tests/statistical/test_max_norm.py::test_full_law",
    ),
    Fault(
        breaks="a threshold for categories is one row too low",
        file="dpcore/mechanisms/_selection.py",
        old="threshold=threshold - 1).map(",
        new="threshold=threshold).map(",
        test="tests/statistical/test_selection.py::test_rare_categories_are_named_as_rarely_as_delta_says",
    ),
    Fault(
        breaks=(
            "a promise of epsilon and delta is taken for a larger rho than it is worth"
        ),
        file="dpcore/accounting/loss.py",
        old="    return fitting\n",
        new="    return fitting + fitting // 1000\n",
        test="tests/accounting/test_loss.py::test_rho_of_a_promise",
    ),
    Fault(
        breaks="pure epsilon under zCDP is charged too little",
        file="dpcore/accounting/composition.py",
        old="return round_up_to_units(rho_of_epsilon(loss.epsilon))",
        new="return round_up_to_units(loss.epsilon**2 / 8)",
        test="tests/accounting/test_composition.py::test_rules_follow_from_the_budget",
    ),
    Fault(
        breaks="a recipe is not rehearsed, and fails after its charge",
        file="dpcore/curator/curator.py",
        old=(
            "self._compute(recipe.fit, build_rehearsal(self.schema, spend, cell, recipe.threshold_delta), on_progress=ignore_stage_progress)"
        ),
        new="pass",
        test="tests/test_curator.py::test_what_public_facts_refuse_is_refused_before_the_charge",
    ),
    Fault(
        breaks="categories are found without a charge in delta",
        file="dpcore/curator/curator.py",
        old="threshold_units=math.ceil(delta * DELTA_UNIT)",
        new="threshold_units=0",
        test="tests/test_curator.py::test_found_categories_are_charged_in_delta",
    ),
    Fault(
        breaks="parts of a source whose rows may move are charged as disjoint",
        file="dpcore/curator/curator.py",
        old="if part is None or self.account.source:",
        new="if part is None:",
        test="tests/test_curator.py::test_parts_of_a_connected_source_add_up",
    ),
    Fault(
        breaks="a view of some columns has a loss of its own, beside that of the whole",
        file=MEASURER,
        old="view.domain = self.domain.project(columns)",
        new=(
            "view.domain, view._purse = self.domain.project(columns), "
            "copy.copy(self._purse)"
        ),
        test="tests/mechanisms/test_views.py::test_a_view_spends_from_the_loss_of_the_whole[project]",
    ),
    Fault(
        breaks="rows of a streamed table keep their order inside a file",
        file="dpcore/io/_mixing.py",
        old=(
            "order = np.argsort(np.frombuffer(os.urandom(8 * len(rows)), "
            "dtype=np.uint64))"
        ),
        new="order = np.arange(len(rows))",
        test="tests/io/test_folder.py::test_places_tell_nothing_of_the_original[4000]",
    ),
    Fault(
        breaks="rows of a connected source are digested under the main key",
        file="dpcore/engines/connect.py",
        old='key = derive_key(key, f"rows of {source_dataset(table.name)}")',
        new='derive_key(key, f"rows of {source_dataset(table.name)}")',
        test="tests/engines/test_keys.py::test_a_source_gets_a_key_of_its_own[parquet]",
    ),
    Fault(
        breaks="the label of a table claims a beta-likeness that its rows break",
        file="dpcore/anonymization/promise.py",
        old="checked.any() and (model.compares_with_table or",
        new='checked.any() and (model.kind == "t-closeness" or',
        test="tests/anonymization/test_promise.py::test_every_claim_is_met_by_the_table_that_leaves",
    ),
    Fault(
        breaks="one row more of each person counts, in memory and in files",
        file="dpcore/tables/digests.py",
        old="return order[rank < max_rows]",
        new="return order[rank <= max_rows]",
        test="tests/contracts/test_engines.py::test_at_most_so_many_rows_of_each_person",
    ),
    Fault(
        breaks="which rows of a person count can be found out without the key",
        file="dpcore/tables/ranks.py",
        old="blake2b(purpose, digest_size=32, key=key, ",
        new="blake2b(purpose, digest_size=32, ",
        test="tests/contracts/test_engines.py::test_kept_rows_of_numbers_are_keyed",
    ),
    Fault(
        breaks="digests of rows can be made without the key",
        file="dpcore/tables/digests.py",
        old='{name} ".encode(errors="surrogatepass"), digest_size=16, key=key).copy',
        new='{name} ".encode(errors="surrogatepass"), digest_size=16).copy',
        test="tests/tables/test_sketch.py::test_a_sketch_is_small_and_keyed",
    ),
    Fault(
        breaks="a ledger goes on from an older copy of itself",
        file="workbench/store/ledger/sql_ledger.py",
        old="        if seen is not None:\n            check_line_present(",
        new="        if seen is None:\n            check_line_present(",
        test=OLDER,
    ),
    Fault(
        breaks="somebody else's table can be charged",
        file="workbench/store/people/personal.py",
        old="        self.check_may_spend(dataset)\n        self.ledger.reserve(",
        new="        self.ledger.reserve(",
        test="tests/workbench/store/test_personal.py::test_a_colleague_learns_nothing_from_the_same_table",
    ),
    Fault(
        breaks="a revoked link works on",
        file="workbench/store/links/shares.py",
        old="and now < expires and not ended",
        new="and now < expires",
        test="tests/workbench/share/test_links.py::test_revoking_works_at_once",
    ),
    Fault(
        breaks="groups of k - 1 people are let out",
        file="dpcore/anonymization/models.py",
        old="return (classes.people < self.k) & (classes.people > 0)",
        new="return (classes.people < self.k - 1) & (classes.people > 0)",
        test="tests/anonymization/test_brute_force.py::test_the_search_agrees_with_looking_at_everything",
    ),
    Fault(
        breaks="respondents' browsers draw from a source that can be guessed",
        file="workbench/share/static/draw.js",
        old=(
            "const word = take(width).reduce((sum, byte, i) => sum + byte * 256 ** "
            "i, 0);"
        ),
        new="const word = Math.floor(Math.random() * 256 ** width);",
        test="tests/e2e/test_answer_script.py::test_same_bytes_give_the_same_report",
    ),
    Fault(
        breaks=(
            "the page of a question takes its bytes from elsewhere than the "
            "browser's crypto"
        ),
        file="workbench/share/static/answer.js",
        old="      return Array.from(bytes);",
        new="      return Array.from(bytes, () => Math.floor(Math.random() * 256));",
        test="tests/workbench/share/test_answers.py::test_scripts_of_answers_know_no_other_source_of_chance",
    ),
    Fault(
        breaks="one row more of each person counts, in Spark",
        file="dpcore/engines/spark/engine.py",
        old='F.col("r") <= self._schema.unit.max_rows',
        new='F.col("r") <= self._schema.unit.max_rows + 1',
        test="tests/contracts/test_engines.py::test_the_same_answers_as_in_memory[spark",
    ),
)


def planted(fault: Fault, copy: Path) -> bool:
    """Whether the named test fails on a copy of the project with this fault."""
    file = copy / fault.file
    text = file.read_text(encoding="utf-8")
    new = fault.new.removeprefix(fault.old[: -len(fault.old.lstrip())])
    broken = place_of(fault.old).sub(lambda _: new, text)
    file.write_text(broken, encoding="utf-8")
    try:
        name, _, parameter = fault.test.partition("[")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            name,
        ]
        command += ["-k", parameter] if parameter else []
        run = subprocess.run(
            command,
            cwd=copy,
            capture_output=True,
            text=True,
            env={**os.environ, "CI": ""},
        )
        return run.returncode == CAUGHT
    finally:
        file.write_text(text, encoding="utf-8")


def main(numbers: list[int]) -> int:
    """Plant the faults of these numbers, or all; returns how many were missed."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        names = subprocess.run(
            ["git", "ls-files"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in names.splitlines():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
        (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        for number in numbers or range(len(FAULTS)):
            caught = planted(FAULTS[number], copy)
            missed += not caught
            print(
                (
                    f"{number:2} {'caught' if caught else 'MISSED'}  "
                    f"{FAULTS[number].breaks}"
                ),
                flush=True,
            )
    return missed


if __name__ == "__main__":
    sys.exit(main([int(each) for each in sys.argv[1:]]))
