"""Families of classes that are found by their `kind`, such as the kinds of columns."""

from typing import Any, ClassVar, Self

from dpcore.errors import UsageError


class Registered:
    """A base whose direct subclasses are families of classes that register themselves
    by their `kind`.

    A class with a `kind` in its own body is registered when it is defined. One without
    is abstract, or a variant that is read back as its base. The package of a family
    imports all of its modules, so that the registry is complete as soon as the family
    can be imported.

    Attributes:
        kind: the name of the class in its family.
        place: in the order of the family; classes of one place follow each other as
            they are defined.

    Raises: ParameterError when two classes of a family have one kind.
    """

    kind: ClassVar[str]
    place: ClassVar[int] = 100
    _family: ClassVar[dict[str, type[Any]]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if Registered in cls.__bases__:
            cls._family = {}
        kind = vars(cls).get("kind")
        if not isinstance(kind, str):
            return
        other = cls._family.get(kind, cls)
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise UsageError(
                (
                    f"{cls.__qualname__} and {other.__qualname__} are both of the kind "
                    f"{kind!r}"
                ),
                remedy="give one of them another kind",
            )
        cls._family[kind] = cls

    @classmethod
    def kinds(cls) -> dict[str, type[Self]]:
        """Return this class and those below it by their kind, in their order."""
        ordered = sorted(cls._family.items(), key=lambda each: each[1].place)
        return {kind: each for kind, each in ordered if issubclass(each, cls)}

    @classmethod
    def of_kind(cls, kind: object) -> type[Self]:
        """Return the class of a kind.

        Raises: ParameterError when no class has it.
        """
        known = cls.kinds()
        if not isinstance(kind, str) or kind not in known:
            raise UsageError(
                f"there is no {cls.__name__} of the kind {kind!r}",
                remedy=f"take one of: {', '.join(known)}",
            )
        return known[kind]
