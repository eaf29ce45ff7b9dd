"""Environments for reinforcement learning.

`othello_v0` and `checkers_v0` are PettingZoo AEC environments; `SingleAgentEnv` is a Gymnasium
environment with a chosen opponent, registered as `outflank/Othello-v0` and `outflank/Checkers-v0`.

>>> from outflank.envs import othello_v0
>>> env = othello_v0.env()
>>> env.reset(seed=1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outflank.envs import checkers_v0, othello_v0
    from outflank.envs.single_agent import SingleAgentEnv

__all__ = ["SingleAgentEnv", "checkers_v0", "othello_v0"]


def __getattr__(name: str) -> Any:
    # The environments need PettingZoo or Gymnasium, so they are imported on demand.
    import importlib

    if name in ("othello_v0", "checkers_v0"):
        return importlib.import_module(f"outflank.envs.{name}")
    if name == "SingleAgentEnv":
        return importlib.import_module("outflank.envs.single_agent").SingleAgentEnv
    raise AttributeError(f"module 'outflank.envs' has no attribute '{name}'")


def _register() -> None:
    """Registers the environments of Gymnasium, if it is installed."""
    try:
        import gymnasium
    except ImportError:
        return
    for game in ("othello", "checkers"):
        gymnasium.register(
            f"outflank/{game.title()}-v0",
            entry_point="outflank.envs.single_agent:SingleAgentEnv",
            kwargs={"game": game},
        )


_register()
