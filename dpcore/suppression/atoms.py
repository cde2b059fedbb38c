"""Cut the people of all tables into the smallest sets that these tell apart.

Each column is cut into parts, the largest sets of values that no group splits. Columns
of which readers have a map form a family: its atoms are the combinations of parts that
can occur. Tables of several families meet in the families that they share.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpcore.errors import LimitError
from dpcore.suppression.attacked import UNLISTED, AttackedTable, KnownMap

MAX_ATOMS = 60_000
MAX_COMPARED_PARTS = 100_000_000  # of a family, while its combinations are built

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Group = frozenset[str]
Families = tuple[int, ...]
"""Numbers of families of columns, sorted."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _PartMap:
    """A known map, in terms of the parts of its two columns.

    Attributes:
        usual: (parts, parts) pairs that any number of people may have.
        most: (parts, parts) people at most in each other pair; 0 if it cannot occur.
        is_error: (parts, parts) pairs that only errors of coding have.
        is_vacant: (parts, parts) pairs with a part that nobody has.
        nesting: the inner and the outer column; None if both cross.
    """

    columns: tuple[str, str]
    usual: Bools
    most: Ints
    is_error: Bools
    is_vacant: Bools
    nesting: tuple[str, str] | None

    @property
    def can_occur(self) -> Bools:
        """The pairs that somebody may have, shape (parts, parts)."""
        return self.usual | (self.most > 0) | self.is_vacant


@dataclass(frozen=True, kw_only=True, eq=False)
class RareGroup:
    """Atoms, or combinations of a family, with a rare pair of values of two columns.

    Attributes:
        columns: of the pair.
        most: people at most.
        is_error: whether only errors of coding have this pair, as the owner says.
        nesting: the inner and the outer of both columns; None if they cross.
        pair: number of the pair of values, the same in each block; -1 in a family.
    """

    atoms: Ints
    columns: frozenset[str]
    most: int
    is_error: bool
    nesting: tuple[str, str] | None
    pair: int = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class _Family:
    """Columns that maps relate.

    Attributes:
        combinations: (combinations, columns) the part of each column.
        rare_groups: sets of combinations that few people have.
    """

    columns: tuple[str, ...]
    combinations: Ints
    rare_groups: list[RareGroup]

    def has_part_in(self, name: str, is_inside: Bools) -> Bools:
        """Return (combinations,) whether the part of a column is among some."""
        inside: Bools = is_inside[self.combinations[:, self.columns.index(name)]]
        return inside

    def find_torn_values(self) -> list[Ints]:
        """Return combinations of the same inner values, some of them errors of coding."""
        errors = [group for group in self.rare_groups if group.is_error]
        is_error = np.zeros(len(self.combinations), dtype=bool)
        for group in errors:
            is_error[group.atoms] = True
        found = []
        for inner, outer in sorted({one.nesting for one in errors if one.nesting}):
            rest = [name for name in self.columns if name != outer]
            for names in dict.fromkeys([(inner,), tuple(rest)]):
                sides = self.combinations[:, [self.columns.index(one) for one in names]]
                keys = np.unique(sides, axis=0, return_inverse=True)[1].ravel()
                torn = np.intersect1d(keys[is_error], keys[~is_error])
                found += [np.flatnonzero(keys == key) for key in torn]
        return found


class AtomBlocks:
    """The atoms into which the families of each block of tables cut the people.

    Tables whose families form no circle meet in shared families only: whatever is
    consistent there is possible for all of them together. In a circle, people are cut
    by all of its families at once.

    Raises: LimitError for too many atoms.
    """

    def __init__(
        self, tables: Sequence[AttackedTable], maps: Sequence[KnownMap]
    ) -> None:
        self.parts = _split_by_maps(_split_columns(tables), maps)
        self.maps = [
            projected
            for known in maps
            if {*known.columns} <= self.parts.keys()
            for projected in [_project(known, self.parts)]
            if not projected.usual.all()
        ]
        self._families = [
            _build_family(names, self.maps, self.parts)
            for names in _join_related(list(self.parts), self.maps)
        ]
        self._family_of = {
            name: number
            for number, family in enumerate(self._families)
            for name in family.columns
        }
        sets = list(dict.fromkeys(self.families_of(table.columns) for table in tables))
        whole = [own for own in sets if not any({*own} < {*other} for other in sets)]
        self._links: list[tuple[Families, Families]] = []
        self.blocks = self._join_cyclic_blocks(whole)
        sizes = [self._count_combinations(block) for block in self.blocks]
        if sum(sizes) > MAX_ATOMS:
            raise _size_error(sum(sizes))
        self.starts = np.cumsum([0, *sizes])
        self.size = int(self.starts[-1])
        self._combinations = [self._combine(block) for block in self.blocks]

    def families_of(self, columns: Sequence[str]) -> Families:
        """Return the families of some columns."""
        return tuple(sorted({self._family_of[name] for name in columns}))

    def _count_combinations(self, families: Families) -> int:
        return math.prod(len(self._families[own].combinations) for own in families)

    def _combine(self, families: Families) -> Ints:
        """Return (atoms, families) the combination of each family."""
        shape = [len(self._families[own].combinations) for own in families]
        return np.indices(shape).reshape(len(shape), -1).T

    def _join_cyclic_blocks(self, blocks: Sequence[Families]) -> list[Families]:
        """Split off blocks that meet all others inside a single one; join the rest."""
        left = list(blocks)
        done: list[Families] = []
        while len(left) > 1:
            for block in left:
                others = [other for other in left if other != block]
                shared = {*block}.intersection(itertools.chain(*others))
                near = next((other for other in others if shared <= {*other}), None)
                if near is not None:
                    self._links.append((block, near))
                    left.remove(block)
                    done.append(block)
                    break
            else:
                left = [tuple(sorted({*itertools.chain(*left)}))]
        return [*done, *left]

    def _find_block(self, families: Families) -> int:
        return next(
            at for at, block in enumerate(self.blocks) if {*families} <= {*block}
        )

    def find_linked_atoms(self) -> list[tuple[Ints, Ints]]:
        """Return pairs of atom sets that must hold equal numbers of people."""
        pairs: list[tuple[Ints, Ints]] = []
        for left, right in self._links:
            places = (self.blocks.index(left), self._find_block(right))
            shared = sorted({*left}.intersection(self.blocks[places[1]]))
            columns = [self._select_families(at, shared) for at in places]
            keys = np.unique(np.concatenate(columns), axis=0, return_inverse=True)[1]
            keys = keys.ravel()
            cut = len(columns[0])
            kinds = int(keys.max()) + 1
            members = [
                _group_by_key(own, kinds, int(self.starts[at]))
                for own, at in zip((keys[:cut], keys[cut:]), places, strict=True)
            ]
            pairs += zip(*members, strict=True)
        return pairs

    def _select_families(self, block: int, families: Sequence[int]) -> Ints:
        """Return (atoms, families) the combinations of some families of a block."""
        places = [self.blocks[block].index(own) for own in families]
        return self._combinations[block][:, places]

    def find_rare_groups(self) -> list[RareGroup]:
        """Return the sets of atoms that few people have."""
        found = []
        starts = np.cumsum([0, *(len(own.rare_groups) for own in self._families)])
        for at, block in enumerate(self.blocks):
            for place, number in enumerate(block):
                own = self._combinations[at][:, place]
                groups = self._families[number].rare_groups
                for pair, group in enumerate(groups, start=int(starts[number])):
                    atoms = np.flatnonzero(np.isin(own, group.atoms))
                    atoms += int(self.starts[at])
                    found.append(replace(group, atoms=atoms, pair=pair))
        return found

    def find_errors(self) -> Ints:
        """Return the atoms of errors of coding, for each family in one block."""
        found = [np.zeros(0, dtype=np.int64)]
        for number, family in enumerate(self._families):
            at = self._find_block((number,))
            own = self._combinations[at][:, self.blocks[at].index(number)]
            for group in family.rare_groups:
                if group.is_error:
                    atoms = np.flatnonzero(np.isin(own, group.atoms))
                    found.append(int(self.starts[at]) + atoms)
        return np.unique(np.concatenate(found))

    def cells_of(self, table: AttackedTable) -> list[Ints]:
        """Return the atoms of each cell of a table, in the order of its counts."""
        block = self._find_block(self.families_of(table.columns))
        number = len(self._combinations[block])
        cells = [np.arange(number)]
        for name, groups in zip(table.columns, table.groups, strict=True):
            inside = [
                np.flatnonzero(self._is_inside(block, name, group)) for group in groups
            ]
            finer = []
            for cell in cells:
                is_inside = np.zeros(number, dtype=bool)
                is_inside[cell] = True
                finer += [atoms[is_inside[atoms]] for atoms in inside]
            cells = finer
        return [int(self.starts[block]) + atoms for atoms in cells]

    def _is_inside(self, block: int, name: str, group: Group | None) -> Bools:
        """Return (atoms,) whether the value of a column is in a group."""
        family = self._family_of[name]
        is_part_inside = np.array(
            [group is None or part <= group for part in self.parts[name]], dtype=bool
        )
        inside = self._families[family].has_part_in(name, is_part_inside)
        own = self._combinations[block][:, self.blocks[block].index(family)]
        selected: Bools = inside[own]
        return selected

    def split(self, families: Families) -> list[Ints]:
        """Return the atoms of each smallest group that some families can tell apart.

        They come in the order of the combinations, the last family fastest.
        """
        block = self._find_block(families)
        shape = [len(self._families[own].combinations) for own in families]
        chosen = self._select_families(block, families)
        keys = np.ravel_multi_index(tuple(chosen.T), shape)
        return _group_by_key(keys, math.prod(shape), int(self.starts[block]))

    def find_miscoded_unions(self, families: Families) -> list[Ints]:
        """Return unions of groups of `split` that errors of coding tear apart.

        They are the people of an inner value, such as a town, some of whom are in a
        wrong district: as a whole, and by the other columns of the family.
        """
        combinations = self._combine(families)
        found: dict[tuple[int, ...], None] = {}
        for place, number in enumerate(families):
            others = np.delete(combinations, place, axis=1)
            for own in self._families[number].find_torn_values():
                chosen = np.flatnonzero(np.isin(combinations[:, place], own))
                keys = np.unique(others[chosen], axis=0, return_inverse=True)[1].ravel()
                for places in _group_by_key(keys, int(keys.max()) + 1, 0):
                    found[tuple(chosen[places].tolist())] = None
        return [np.array(own, dtype=np.int64) for own in found]

    def find_lines(self, families: Families, number: int) -> list[Ints]:
        """Return the groups of `split` on each line through one of them."""
        shape = [len(self._families[own].combinations) for own in families]
        numbers = np.arange(math.prod(shape)).reshape(shape)
        places = [int(place) for place in np.unravel_index(number, shape)]
        return [
            np.moveaxis(numbers, at, -1)[tuple(places[:at] + places[at + 1 :])]
            for at in range(len(shape))
        ]

    def mark_inside(self, families: Families, name: str, group: Group | None) -> Bools:
        """Return which groups of `split` lie in a group of a column.

        None does if the column is of another family.
        """
        combinations = self._combine(families)
        if group is None:
            return np.ones(len(combinations), dtype=bool)
        own = self._family_of[name]
        if own not in families:
            return np.zeros(len(combinations), dtype=bool)
        parts = np.array([part <= group for part in self.parts[name]], dtype=bool)
        inside = self._families[own].has_part_in(name, parts)
        marked: Bools = inside[combinations[:, families.index(own)]]
        return marked


def _size_error(number: int) -> LimitError:
    return LimitError(
        "together with the tables published so far, this table has {number} "
        "combinations of groups, and at most {most} can be checked",
        remedy="use fewer or coarser groups, or columns that already stand together "
        "in a table",
        number=number,
        most=MAX_ATOMS,
    )


def _group_by_key(keys: Ints, kinds: int, start: int) -> list[Ints]:
    """Return the places of each key, counted from a start."""
    order = np.argsort(keys, kind="stable")
    ends = np.searchsorted(keys[order], np.arange(kinds + 1))
    return [start + order[low:high] for low, high in itertools.pairwise(ends.tolist())]


def _project(known: KnownMap, parts: Mapping[str, Sequence[Group]]) -> _PartMap:
    """Return a map in terms of parts of its columns.

    A part that nobody has may go with every other one, for readers who do not know
    that nobody has it.
    """
    own = [parts[name] for name in known.columns]
    places = [
        {value: at for at, part in enumerate(side) for value in part} for side in own
    ]
    shape = (len(own[0]), len(own[1]))
    usual = np.zeros(shape, dtype=bool)
    most = np.zeros(shape, dtype=np.int64)
    is_error = np.ones(shape, dtype=bool)

    def find_parts(pair: tuple[str, str]) -> tuple[int, int] | None:
        found = [
            side.get(value, side.get(UNLISTED, -1))
            for value, side in zip(pair, places, strict=True)
        ]
        return None if min(found) < 0 else (found[0], found[1])

    for pair in sorted(known.usual):
        if (at := find_parts(pair)) is not None:
            usual[at] = True
    for pair, number in known.rare.items():
        if (at := find_parts(pair)) is not None:
            most[at] += number
            is_error[at] &= pair in known.errors
    most[usual] = 0
    occurs = usual | (most > 0)
    has_nobody = [
        ~occurs.any(axis=1 - side)
        & np.array([UNLISTED not in part for part in own[side]])
        for side in (0, 1)
    ]
    # of the values that no table lists, readers know nothing
    usual[~occurs.any(axis=1) & ~has_nobody[0]] = True
    usual[:, ~occurs.any(axis=0) & ~has_nobody[1]] = True
    return _PartMap(
        columns=known.columns,
        usual=usual,
        most=most,
        is_error=is_error & (most > 0),
        is_vacant=(has_nobody[0][:, np.newaxis] | has_nobody[1]) & ~usual,
        nesting=known.nesting,
    )


def _join_related(
    names: Sequence[str], maps: Sequence[_PartMap]
) -> list[tuple[str, ...]]:
    """Return the families of columns, each one in the order in which maps reach it."""
    near: dict[str, list[str]] = {name: [] for name in names}
    for one in maps:
        first, second = one.columns
        near[first].append(second)
        near[second].append(first)
    families = []
    seen: set[str] = set()
    for name in names:
        if name in seen:
            continue
        family = [name]
        for own in family:
            family += [other for other in near[own] if other not in family]
        seen.update(family)
        families.append(tuple(family))
    return families


def _build_family(
    names: tuple[str, ...],
    maps: Sequence[_PartMap],
    parts: Mapping[str, Sequence[Group]],
) -> _Family:
    """Combine the parts of related columns as maps allow.

    Raises: LimitError for too many combinations.
    """
    can_occur: dict[tuple[str, str], Bools] = {}
    for one in maps:
        first, second = one.columns
        can_occur[first, second] = one.can_occur
        can_occur[second, first] = one.can_occur.T
    combinations = np.arange(len(parts[names[0]]))[:, np.newaxis]
    for at, name in enumerate(names[1:], start=1):
        compared = len(combinations) * len(parts[name])
        if compared > MAX_COMPARED_PARTS:
            raise _size_error(compared)
        fits = np.ones((len(combinations), len(parts[name])), dtype=bool)
        for place, other in enumerate(names[:at]):
            if (other, name) in can_occur:
                fits &= can_occur[other, name][combinations[:, place]]
        if fits.sum() > MAX_ATOMS:
            raise _size_error(int(fits.sum()))
        rows, own = np.nonzero(fits)
        combinations = np.column_stack([combinations[rows], own])
    rare_groups = []
    for one in maps:
        if not {*one.columns} <= {*names}:
            continue
        sides = combinations[:, [names.index(name) for name in one.columns]]
        vacant = np.flatnonzero(one.is_vacant[sides[:, 0], sides[:, 1]])
        if len(vacant):
            rare_groups.append(
                RareGroup(
                    atoms=vacant,
                    columns=frozenset(one.columns),
                    most=0,
                    is_error=False,
                    nesting=None,
                )
            )
        width = one.most.shape[1]
        members = _group_by_key(sides @ [width, 1], one.most.size, 0)
        rare_groups += [
            RareGroup(
                atoms=members[key],
                columns=frozenset(one.columns),
                most=int(one.most.flat[key]),
                is_error=bool(one.is_error.flat[key]),
                nesting=one.nesting,
            )
            for key in np.flatnonzero(one.most).tolist()
            if len(members[key])
        ]
    return _Family(columns=names, combinations=combinations, rare_groups=rare_groups)


def _split_columns(tables: Sequence[AttackedTable]) -> dict[str, list[Group]]:
    """Cut each column's values into the largest sets that no group splits.

    One part more stands for the values that no table lists, unless nobody has any.
    """
    groups: dict[str, list[Group]] = {}
    complete: dict[str, Group] = {}
    of_today: dict[str, Group] = {}
    newest = next((one for one in reversed(tables) if one.complete_columns), None)
    for table in tables:
        for name, axis in zip(table.columns, table.groups, strict=True):
            own = [group for group in axis if group is not None]
            groups.setdefault(name, []).extend(own)
            if name in table.complete_columns:
                values = frozenset[str]().union(*own)
                # the newest tables list the values of today, earlier ones those of then
                if newest is not None and table.is_published_with(newest):
                    values &= of_today.setdefault(name, values)
                    of_today[name] = values
                else:
                    values |= complete.get(name, frozenset())
                complete[name] = values
    parts = {}
    for name, own in groups.items():
        listed = complete.get(name, frozenset[str]().union(*own))
        parts[name] = _split_groups([group & listed for group in own])
        if name not in complete:
            parts[name].append(frozenset({UNLISTED}))
    return parts


def _split_by_maps(
    parts: Mapping[str, list[Group]], maps: Sequence[KnownMap]
) -> dict[str, list[Group]]:
    """Cut the parts of inner columns further by what their values tell.

    Readers know the district of a town also if a table shows the town in a group alone.
    """
    finer = dict(parts)
    nested = [
        known
        for known in maps
        if known.nesting is not None and {*known.nesting} <= parts.keys()
    ]
    for _ in nested:  # a column that is cut may cut another one in turn
        before = dict(finer)
        for known in nested:
            assert known.nesting is not None
            inner, outer = known.nesting
            alike = _group_by_outer(known, finer[outer])
            finer[inner] = [
                piece
                for part in finer[inner]
                for piece in _split_groups([part, *(part & own for own in alike)])
            ]
        if finer == before:
            break
    return finer


def _group_by_outer(known: KnownMap, outer_parts: Sequence[Group]) -> list[Group]:
    """Return sets of inner values that usually go with the same outer parts."""
    assert known.nesting is not None
    at = known.columns.index(known.nesting[0])
    part_of = {value: place for place, part in enumerate(outer_parts) for value in part}
    told: dict[str, set[int]] = {}
    for pair in known.usual:
        told.setdefault(pair[at], set()).add(part_of.get(pair[1 - at], -1))
    alike: dict[frozenset[int], set[str]] = {}
    for value, places in sorted(told.items()):
        alike.setdefault(frozenset(places), set()).add(value)
    return [frozenset(values) for values in alike.values()]


def _split_groups(groups: Sequence[Group]) -> list[Group]:
    """Cut values into the largest sets that no group splits."""
    memberships: dict[str, list[int]] = {}
    for number, group in enumerate(dict.fromkeys(groups)):
        for value in sorted(group):
            memberships.setdefault(value, []).append(number)
    together: dict[tuple[int, ...], set[str]] = {}
    for value, inside in memberships.items():
        together.setdefault(tuple(inside), set()).add(value)
    return [frozenset(values) for values in together.values()]
