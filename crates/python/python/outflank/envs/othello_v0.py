"""Othello as a PettingZoo AEC environment.

An action is a square (0 is a1, 63 is h8). Forced passes are made by the environment, so an agent may
move twice in a row. The observation has the planes own discs and opponent's discs (8 x 8 x 2).
"""

from __future__ import annotations

from pettingzoo import AECEnv

from outflank.envs import aec

__all__ = ["env", "raw_env"]


def env(render_mode: str | None = None) -> AECEnv:
    """Returns the environment with PettingZoo's checks."""
    return aec.make_env("othello", render_mode)


def raw_env(render_mode: str | None = None) -> aec.raw_env:
    """Returns the environment without checks."""
    return aec.raw_env("othello", render_mode)
