"""Every public name has a docstring."""

import inspect

import pytest

import outflank
import outflank.envs


def public_members():
    for name in outflank.__all__:
        item = getattr(outflank, name)
        yield f"outflank.{name}", item
        if inspect.isclass(item):
            for member in dir(item):
                if not member.startswith("_") and not hasattr(ValueError, member):
                    yield f"outflank.{name}.{member}", getattr(item, member)
        elif inspect.ismodule(item):
            for member, value in vars(item).items():
                if inspect.isfunction(value) and value.__module__ == item.__name__:
                    yield f"outflank.{name}.{member}", value


def test_public_names_have_docstrings():
    missing = []
    for name, item in public_members():
        is_slot = inspect.isdatadescriptor(item) and type(item).__name__ == "member_descriptor"
        if not is_slot and not isinstance(item, (str, int)) and not inspect.getdoc(item):
            missing.append(name)
    assert missing == []


def test_signatures_are_readable():
    for function in (outflank.play_match, outflank.league, outflank.analyze, outflank.accuracy):
        assert "progress" in inspect.signature(function).parameters
    with pytest.raises(TypeError):
        outflank.play_match("random", "heuristic", color="red")
