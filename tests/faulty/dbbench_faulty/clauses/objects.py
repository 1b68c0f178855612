"""Faults in rows as objects."""

import weakref

from dbbench_faulty.right import Client, Table
from dbbench_faulty.shared import lying, mutant


class OneOnly(Table):
    clause = "gives objects"
    session_class = type("OneOnlyClient", (Client,), {"prepare_get_many": None})


@mutant(Table, "gives every member")
class WrongMember(Client):
    def prepare_get(self, name, table):
        get = super().prepare_get(name, table)

        def changed(key):
            found = get(key)
            if found is not None and found.Changed is not None:
                found.Changed = None
            return found

        return changed


class LosesLast(Table):
    clause = "gives many at once"
    session_class = lying(Client, get_many=lambda get_many, keys: get_many(keys) if keys else get_many(keys)[:-1])


@mutant(Table, "a key that is not there has no object")
class RaisesForNone(Client):
    def prepare_get(self, name, table):
        get = super().prepare_get(name, table)

        def found(key):
            if (thing := get(key)) is None:
                raise KeyError(key)
            return thing

        return found


class Lazy:
    """Reads a member when it is asked for."""

    def __init__(self, get, key):
        self.__dict__.update(_get=get, _key=key)

    def __getattr__(self, name):
        return getattr(self._get(self._key), name)


class ReadsLate(Table):
    clause = "an object is whole when it is given"
    session_class = lying(Client, get=lambda get, key: None if get(key) is None else Lazy(get, key))


@mutant(Table, "an object still held is given again")
class GivesOnce(Client):
    def prepare_get(self, name, table):
        get, held = super().prepare_get(name, table), weakref.WeakValueDictionary()

        def once(key):
            if key in held:
                raise RuntimeError("it is held already")
            if (thing := get(key)) is not None:
                held[key] = thing
            return thing

        return once


class SharesConnection(Table):
    """Sessions that are open at the same time have one connection."""

    clause = "sessions are apart"
    only = None

    class session_class(Client):
        def close(self):
            super().close()
            self.owner.only = None

    def connect(self):
        self.only = self.only or self.connection()
        session = self.session_class(self.only, self.sql)
        session.owner = self
        return session


@mutant(Table, "its driver is seen")
class SeesNothing(Client):
    def watch(self, timer):
        pass
