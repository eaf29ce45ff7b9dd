"""Checkers (English draughts) as a PettingZoo AEC environment.

An action is one step of a move: start times 32 plus target, with squares from 0 to 31. After a
capture that must continue, the same agent moves again. The observation (8 x 8 x 5) has the planes
own men, own kings, opponent's men, opponent's kings, and the piece that must continue.
"""

from __future__ import annotations

from pettingzoo import AECEnv

from outflank.envs import aec

__all__ = ["env", "raw_env"]


def env(render_mode: str | None = None) -> AECEnv:
    """Returns the environment with PettingZoo's checks."""
    return aec.make_env("checkers", render_mode)


def raw_env(render_mode: str | None = None) -> aec.raw_env:
    """Returns the environment without checks."""
    return aec.raw_env("checkers", render_mode)
