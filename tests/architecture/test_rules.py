"""The rules besides that of the layers: the imports that are allowed between packages
and inside them.

Each rule is a function from one arrow (module, imported module) to a reason against it,
or None. Every rule is run over all imports, and over an arrow that it must refuse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest

from tests.architecture.modules import NAMES, ROOT, arrows

PAGES = {path.stem for path in (ROOT / "pages").glob("*.py")}
OWNERS = {
    page: "records" if page in ("codebook", "ledger", "links") else page
    for page in PAGES
}
"""The package of each page in workbench; three pages share one."""
# where a module of dpcore.anonymization stands; each may import what stands lower
ANONYMIZE = {
    "hierarchies": 0,
    "models": 1,
    "recoded": 1,
    "fulldomain": 2,
    "partition": 2,
    "plan": 3,
    "apply": 4,
}
STREAMLIT = {
    "workbench.session.person",
    "workbench.session",
    "workbench.ui.widgets",
    "workbench.ui.unexpected",
    "workbench.upload.reading",
}
"""The modules that may draw beside the `form` and `view` of a page's package, and parts
of those under other names; settings read the secrets.
"""
FOR_STRANGERS = (
    "dpcore.errors",
    "dpcore.text",
    "dpcore.schema",
    "dpcore.local",
    "dpcore.tables",
    "dpcore.release",
    "dpcore.risk",
    "dpcore.suppression",
    "dpcore.synthesis",
    "dpcore.io.export",
    "dpcore.io.xlsx",
    "dpcore.accounting.loss",
    "workbench.language",
    "workbench.store",
    "workbench.server.web.headers",
    "workbench.server.web.who",
    "workbench.report",
    "workbench.share",
)
"""What pages for strangers may import."""


def package(module: str) -> str:
    """Return the second name of a module, the package of workbench that it is in."""
    return module.split(".")[1] if "." in module else ""


def methods_of_anonymization(module: str, imported: str) -> str | None:
    """2: inside anonymization, hierarchies < models, recoded < fulldomain, partition < plan
    < apply.
    """
    ours, other = ([*each.split("."), "", ""][:3] for each in (module, imported))
    if (
        ours[:2] != ["dpcore", "anonymization"]
        or other[:2] != ["dpcore", "anonymization"]
        or ours[2] == other[2]
    ):
        return None
    if ours[2] not in ANONYMIZE or other[2] not in ANONYMIZE:
        return None
    return "goes up" if ANONYMIZE[other[2]] >= ANONYMIZE[ours[2]] else None


def a_page_owns_its_package(module: str, imported: str) -> str | None:
    """3: a package of pages is imported by these pages and itself only."""
    if (
        not imported.startswith("workbench.")
        or package(imported) not in OWNERS.values()
    ):
        return None
    ours = (
        package(module)
        if module.startswith("workbench.")
        else OWNERS.get(module.removeprefix("pages."))
    )
    return None if ours == package(imported) else "not its page"


WORKBENCH = (
    "samples",
    "language",
    "store",
    "server",
    "report",
    "share",
    "session",
    "ui",
)
"""The packages of workbench that pages share, each of which may import those before
it.
"""


def layer(module: str) -> int:
    """Return the place of a module of workbench, above all others where it belongs to
    pages.
    """
    return (
        WORKBENCH.index(package(module))
        if package(module) in WORKBENCH
        else len(WORKBENCH)
    )


def inside_workbench(module: str, imported: str) -> str | None:
    """4: the packages of `WORKBENCH` in their order, then those of pages; samples
    imports nothing of ours.
    """
    if not module.startswith("workbench.") or imported.split(".")[0] not in (
        "workbench",
        "dpcore",
    ):
        return None
    if module == "workbench.samples":
        return "samples knows nothing"
    if imported.startswith("workbench.") and package(imported) != package(module):
        return "goes up" if layer(imported) >= layer(module) else None
    return None


def who_draws(module: str, imported: str) -> str | None:
    """5: streamlit only in app, navigation, web, pages, session, ui, `form`, `view`;
    altair in `charts`.
    """
    library = imported.split(".")[0]
    last = module.split(".")[-1]
    if library == "altair":
        return None if last == "charts" else "only charts"
    if (
        library != "streamlit"
        or module in ("app", "workbench.navigation")
        or module.startswith(("pages.", "workbench.server.web."))
        or module in STREAMLIT
    ):
        return None
    # the secrets, inside the function that reads them
    if module == "workbench.store.settings":
        return None
    return None if last.split("_")[-1] in ("form", "view") else "does not draw"


def what_is_shared_knows_no_rows(module: str, imported: str) -> str | None:
    """6: what answers strangers, and makes their pages, knows releases and words; no
    curator or session.
    """
    if not module.startswith(
        ("workbench.share.", "workbench.report.")
    ) or imported.split(".")[0] not in (
        "dpcore",
        "workbench",
        "pages",
        "app",
    ):
        return None
    return None if imported.startswith(FOR_STRANGERS) else "not for strangers"


RULES: dict[Callable[[str, str], str | None], tuple[str, str]] = {
    methods_of_anonymization: (
        "dpcore.anonymization.models",
        "dpcore.anonymization.plan",
    ),
    a_page_owns_its_package: ("pages.audit", "workbench.anonymize.work"),
    inside_workbench: ("workbench.session", "workbench.ui.widgets"),
    who_draws: ("workbench.records.lines", "streamlit"),
    what_is_shared_knows_no_rows: ("workbench.share.pages", "dpcore.curator"),
}
"""Each rule, and an arrow that it must refuse."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_import_breaks_the_rule(rule: Callable[[str, str], str | None]) -> None:
    """A package that others reach into cannot be changed, or read, by itself."""
    assert [(*arrow, why) for arrow in arrows() if (why := rule(*arrow))] == []


def test_foreign_modules_are_arrows_too() -> None:
    """`import streamlit as st` was no arrow once, and the rule on who draws saw
    nothing.
    """
    assert ("workbench.session", "streamlit") in arrows()
    assert {module for module, imported in arrows() if imported == "altair"} >= {
        "workbench.report.charts"
    }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rule_refuses(rule: Callable[[str, str], str | None]) -> None:
    """A rule that never refuses is no rule."""
    assert rule(*RULES[rule])


def test_the_layers_of_anonymization_name_real_modules() -> None:
    """A layer that was renamed would be checked no longer."""
    assert all(
        any(each.startswith(f"dpcore.anonymization.{name}") for each in NAMES)
        for name in ANONYMIZE
    )


def test_no_module_is_in_a_circle() -> None:
    """Modules that import each other can be understood only together."""
    below: dict[str, set[str]] = defaultdict(set)
    for module, imported in arrows():
        if imported in NAMES and imported != module and imported.count("."):
            below[module].add(imported)
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " > ".join((*path, module))
        if module not in done:
            for other in sorted(below[module]):
                visit(other, (*path, module))
            done.add(module)

    for module in sorted(NAMES):
        visit(module, ())
