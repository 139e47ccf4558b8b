"""Paths as objects: what the garbage collector sees of them."""

import gc
import weakref

from samovar._native import Path


class Step(Path):
    __slots__ = ()


class Key:
    pass


def test_the_class_of_a_path_is_visited_once():
    assert gc.get_referents(Step(None, "parameter", "a")).count(Step) == 1
    assert gc.get_referents(Path(None, "parameter", "a")) == [None, "a"]


def test_a_path_in_a_cycle_is_collected_with_its_class():
    class Own(Path):
        __slots__ = ("__weakref__",)

    key = Key()
    key.path = Own(Own(None, "parameter", "a"), "item", key)
    gone = weakref.ref(key), weakref.ref(Own), weakref.ref(key.path)
    del key, Own
    gc.collect()
    assert [each() for each in gone] == [None] * 3
