"""A Gymnasium environment: a game against a chosen opponent."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from outflank._outflank import OutflankError, Player, Position
from outflank.envs.encoding import new_state


class SingleAgentEnv(gymnasium.Env[dict[str, Any], Any]):
    """A game against an opponent: a player specification, a Model, a function or a Player.

    `side` is the agent's side: "black", "white" or "random". Observations and actions are those of
    the PettingZoo environments. The reward at the end is 1 for a win, -1 for a loss and 0 for a draw;
    an illegal action ends the game with reward -1. The seed of reset determines all randomness.
    """

    metadata = {"render_modes": ["ansi", "svg"], "render_fps": 1}

    def __init__(
        self,
        game: str = "othello",
        opponent: Any = "random",
        side: str = "black",
        render_mode: str | None = None,
    ) -> None:
        if side not in ("black", "white", "random"):
            raise OutflankError(f"side is black, white or random, not '{side}'")
        self.game = game
        self.opponent = opponent if isinstance(opponent, Player) else Player(opponent, game=game)
        self.side = side
        self.render_mode = render_mode
        self._state = new_state(game)
        self._agent = "black"
        actions, shape = self._state.actions, self._state.shape
        self.action_space = gymnasium.spaces.Discrete(actions)
        self.observation_space = gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Box(0, 1, shape, np.int8),
                "action_mask": gymnasium.spaces.Box(0, 1, (actions,), np.int8),
            }
        )

    def _observation(self) -> dict[str, Any]:
        mask = self._state.mask()
        return {"observation": self._state.observe(self._agent), "action_mask": mask}

    def _info(self) -> dict[str, Any]:
        return {"side": self._agent, "position": str(self._state.position)}

    def _play_opponent(self) -> None:
        position = self._state.position
        while not position.is_over and position.side != self._agent:
            seed = int(self.np_random.integers(1 << 62))
            position = position.play(self.opponent.choose(position, seed))
        self._state.position = position

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts a new game; the opponent moves first if it is Black."""
        super().reset(seed=seed)
        self._state = new_state(self.game)
        sides = ("black", "white")
        self._agent = sides[self.np_random.integers(2)] if self.side == "random" else self.side
        self._play_opponent()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Plays an action and the opponent's answer."""
        if self._state.position.is_over:
            raise OutflankError("the game is over; call reset")
        if not self._state.mask()[int(action)]:
            info = {**self._info(), "illegal_action": int(action)}
            return self._observation(), -1.0, True, False, info
        if self._state.step(int(action)) is not None:
            self._play_opponent()
        position = self._state.position
        reward = 0.0
        if position.is_over:
            sign = 1 if self._agent == "black" else -1
            reward = float(sign * np.sign(position.result))
        return self._observation(), reward, position.is_over, False, self._info()

    def render(self) -> str:
        """Returns the board as text or SVG."""
        position: Position = self._state.position
        return position.svg() if self.render_mode == "svg" else position.diagram()
