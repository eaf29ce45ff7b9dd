"""PettingZoo (AEC) environment for a two-player game."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from outflank.envs.encoding import new_state

AGENTS = ["player_0", "player_1"]
"""Black and White."""

SIDES = {"player_0": "black", "player_1": "white"}


class raw_env(AECEnv):
    """A game as an AEC environment. player_0 is Black.

    An observation is a dictionary of `observation` (board planes from the agent's point of view) and
    `action_mask`. The rewards at the end are 1 for a win, -1 for a loss and 0 for a draw.
    """

    metadata = {
        "render_modes": ["ansi", "human", "svg"],
        "render_fps": 1,
        "is_parallelizable": False,
    }
    game: str

    def __init__(self, game: str, render_mode: str | None = None) -> None:
        super().__init__()
        self.game = game
        self.metadata = {**self.metadata, "name": f"{game}_v0"}
        self.render_mode = render_mode
        self._state = new_state(game)
        self.possible_agents = AGENTS[:]
        self.agents = AGENTS[:]
        actions, shape = self._state.actions, self._state.shape
        self.action_spaces = {agent: gymnasium.spaces.Discrete(actions) for agent in AGENTS}
        self.observation_spaces = {
            agent: gymnasium.spaces.Dict(
                {
                    "observation": gymnasium.spaces.Box(0, 1, shape, np.int8),
                    "action_mask": gymnasium.spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in AGENTS
        }

    def observation_space(self, agent: str) -> Any:
        """Returns the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Returns the action space of an agent."""
        return self.action_spaces[agent]

    @property
    def position(self) -> Any:
        """The current Position."""
        return self._state.position

    def observe(self, agent: str) -> dict[str, Any]:
        """Returns the observation of an agent. Only the agent to move has legal actions."""
        mask = self._state.mask()
        if agent != self.agent_selection:
            mask = np.zeros_like(mask)
        return {"observation": self._state.observe(SIDES[agent]), "action_mask": mask}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a new game. The games have no randomness, so the seed has no effect."""
        self._state = new_state(self.game)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[0]

    def step(self, action: Any) -> None:
        """Plays an action of the agent to move.

        Raises an error for an illegal action; `make_env` wraps the environment so that an illegal
        action ends the game.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self._state.step(int(action))
        position = self._state.position
        if position.is_over:
            sign = int(np.sign(position.result))
            self.rewards = {AGENTS[0]: sign, AGENTS[1]: -sign}
            self.terminations = dict.fromkeys(AGENTS, True)
            self.agent_selection = AGENTS[1 - AGENTS.index(agent)]
        else:
            self.agent_selection = AGENTS[position.side == "white"]
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        """Returns the board as text or SVG, or prints it (`human`)."""
        if self.render_mode == "svg":
            return self._state.position.svg()
        text = self._state.position.diagram()
        if self.render_mode == "human":
            print(text)
            return None
        return text

    def close(self) -> None:
        """Does nothing; the environment holds no resources."""


def make_env(game: str, render_mode: str | None = None) -> AECEnv:
    """Returns the environment of a game with PettingZoo's checks; an illegal action ends the game
    with reward -1."""
    environment: AECEnv = raw_env(game, render_mode)
    environment = wrappers.TerminateIllegalWrapper(environment, illegal_reward=-1)
    environment = wrappers.AssertOutOfBoundsWrapper(environment)
    return wrappers.OrderEnforcingWrapper(environment)
