"""Digests without a key are made of public texts alone: a private one could be guessed,
and tried.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.modules import name_of, ours

DIGESTS = {"blake2b", "blake2s", "md5", "sha1", "sha256", "sha512", "crc32", "hash"}
PUBLIC = {
    ("dpcore.accounting.chain", "digest_release"): "a stored release",
    (
        "dpcore.accounting.chain",
        "plan_digests",
    ): "compared with lines of earlier versions, written nowhere",
    ("dpcore.accounting.ledger", "digest"): "budget and charges",
    (
        "dpcore.engines.spark._tasks",
        "_blocks_of_keys",
    ): "the worker of a text, which goes there too",
    (
        "dpcore.evaluation.table.cells_of_numbers",
        "make_cell_search",
    ): "the id of a request, keyed or random",
    ("dpcore.evaluation.utility.private", "to_dict"): "a release",
    ("dpcore.release", "_digest"): "a release file",
    (
        "dpcore.schema.schema",
        "part_in_ledger",
    ): "compared with lines of earlier versions, written beside them alone",
    (
        "dpcore.suppression.published",
        "key",
    ): "a published table, in records of later tables in the ledger alone",
    (
        "dpcore.synthesis.discrete.recipes",
        "to_dict",
    ): "noisy tables of an earlier release",
    (
        "dpcore.synthesis.closeness",
        "to_dict",
    ): "counts of a public table, as `Closeness.of` sees to",
    (
        "dpcore.tables.hashes",
        "text_hashes",
    ): "texts that are counted in one pass, and go nowhere",
    (
        "dpcore.tables.hashes",
        "tuple_hashes",
    ): "numbers inside one piece of work, which go nowhere",
    (
        "dpcore.tables.ranks",
        "rank_messages",
    ): "a function under two keys that the ledger's key gives",
    (
        "workbench.anonymize.view",
        "show_list_attack",
    ): "what was computed in this tab, which keeps it in its session",
    (
        "workbench.evaluate.form",
        "digest",
    ): "what was computed in this tab, which keeps it in its session",
    ("workbench.report.document", ""): "our own style sheet",
    ("workbench.report.downloads", "linked_citation"): "a release, which is public",
    ("workbench.store.sources.files", "_shorten_name"): "the name of a source",
    ("workbench.store.links.surveys", "digest_of"): "random links",
    ("workbench.store.database.witness", "_path"): "the name of a source",
    ("workbench.server.web.guard", "_visitor_digest"): "a random cookie",
    ("workbench.server.web.headers", "_inline_script_hashes"): "our own scripts",
    ("workbench.server.web.words", ""): "our own style sheet",
}
"""Where a digest has no key, and of what it is."""


def unkeyed(tree: ast.AST, function: str = "") -> Iterator[tuple[str, int]]:
    """Where a digest without a key is named, called or not: the function, and the
    line.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.arg):
            continue  # annotations
        inside = node.name if isinstance(node, ast.FunctionDef) else function
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called.startswith("hmac.") or any(
                each.arg == "key" for each in node.keywords
            ):
                for each in [*node.args, *node.keywords]:
                    yield from (
                        () if called.startswith("hmac.") else unkeyed(each, inside)
                    )
                continue
        name = (
            node.attr
            if isinstance(node, ast.Attribute)
            else node.id
            if isinstance(node, ast.Name)
            else ""
        )
        of_library = isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
            "hashlib",
            "zlib",
        )
        if (
            of_library
            or (name in DIGESTS and not isinstance(node, ast.Attribute))
            or name.startswith("hash_")
        ):
            yield inside, node.lineno  # type: ignore[attr-defined]
        yield from unkeyed(node, inside)


def test_digests_without_a_key_are_of_public_texts() -> None:
    """Counts, rows or ids could be found out from a digest in the ledger, a release or
    a log, by guessing.
    """
    found = {
        (name_of(path), inside)
        for path, tree in ours().items()
        for inside, _ in unkeyed(tree)
    }
    assert sorted(found) == sorted(PUBLIC)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f(x):\n    return hashlib.sha256(x).hexdigest()", [("f", 2)]),
        ("d = hashlib.new('sha256', x)", [("", 1)]),
        ("d = blake2b(x, digest_size=16)", [("", 1)]),
        ("d = blake2b(x, digest_size=16, key=key)", []),
        ("d = hmac.new(key, x, hashlib.sha256)", []),
        ("d = map(hashlib.sha256, x)", [("", 1)]),
        ("def f(x: blake2b):\n    return hash(x)", [("f", 2)]),
    ],
)
def test_the_walk_sees_planted_digests(
    source: str, lines: list[tuple[str, int]]
) -> None:
    """A walk that finds nothing would pass."""
    assert list(unkeyed(ast.parse(source))) == lines
