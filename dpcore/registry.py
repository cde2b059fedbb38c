"""Families of classes, such as the kinds of columns, looked up by `kind`."""

import importlib
from typing import Any, ClassVar, Self

from dpcore.errors import UsageError


class Registered:
    """A base class whose direct subclasses are families of classes, found by `kind`.

    A class with a `kind` in its own body is registered when it is defined. One without
    is abstract, or a variant that is read back as its base. A family names its `home`,
    a module that imports all of its classes; it is imported before kinds are looked up.

    Attributes:
        kind: the name of the class in its family.
        place: in the order of the family; classes of one place follow each other as
            they are defined.

    Raises:
        UsageError: when two classes of a family have one kind.

    >>> class Animal(Registered):
    ...     pass
    >>> class Dog(Animal):
    ...     kind = "dog"
    >>> Animal.of_kind("dog").__name__
    'Dog'
    """

    kind: ClassVar[str]
    place: ClassVar[int] = 100
    _family: ClassVar[dict[str, type[Any]]]
    _home: ClassVar[str]

    def __init_subclass__(cls, *, home: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if Registered in cls.__bases__:
            cls._family = {}
            cls._home = home
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
        """Return this class and its subclasses by kind, in the order of their
        family.
        """
        if cls._home:
            importlib.import_module(cls._home)
        ordered = sorted(cls._family.items(), key=lambda each: each[1].place)
        return {kind: member for kind, member in ordered if issubclass(member, cls)}

    @classmethod
    def of_kind(cls, kind: object) -> type[Self]:
        """Return the class that is registered under a kind.

        Raises: ParameterError when no class has it.
        """
        known = cls.kinds()
        if not isinstance(kind, str) or kind not in known:
            raise UsageError(
                f"there is no {cls.__name__} of the kind {kind!r}",
                remedy=f"take one of: {', '.join(known)}",
            )
        return known[kind]
