"""Environments for reinforcement learning."""

import subprocess
import sys

import numpy as np
import pytest

import outflank

pytest.importorskip("pettingzoo")
gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import api_test, seed_test  # noqa: E402

from outflank.envs import SingleAgentEnv, checkers_v0, othello_v0  # noqa: E402
from outflank.envs.encoding import CheckersState  # noqa: E402


@pytest.mark.parametrize("module", [othello_v0, checkers_v0])
def test_pettingzoo_api(module):
    api_test(module.env(), num_cycles=300)
    api_test(module.raw_env(), num_cycles=300)
    seed_test(module.env, num_cycles=50)


@pytest.mark.parametrize("module", [othello_v0, checkers_v0])
def test_games_follow_the_rules(module):
    rng = np.random.default_rng(3)
    longest = 0
    for _ in range(5):
        env = module.env()
        env.reset()
        total = {"player_0": 0, "player_1": 0}
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            total[agent] += reward
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            assert len(legal) > 0
            env.step(int(rng.choice(legal)))
            longest += 1
        result = env.unwrapped.position.result
        assert total == {"player_0": np.sign(result), "player_1": -np.sign(result)}
    assert longest > 5 * 30


def test_illegal_actions_end_the_game():
    env = othello_v0.env()
    env.reset()
    env.step(0)
    assert env.terminations["player_0"] and env.rewards["player_0"] == -1


def test_observations_of_othello():
    env = othello_v0.env()
    env.reset()
    env.step(37)  # f5
    white, black = env.observe("player_1"), env.observe("player_0")
    assert white["observation"].sum(axis=(0, 1)).tolist() == [1, 4]
    assert np.array_equal(black["observation"], white["observation"][:, :, ::-1])
    assert np.flatnonzero(white["action_mask"]).tolist() == env.unwrapped.position.actions
    assert black["action_mask"].sum() == 0


def test_captures_of_checkers_take_several_steps():
    state = CheckersState()
    state.position = outflank.Position("B:W14,23:B9,1", "checkers")
    assert state.position.moves == ["9x18x27"]
    assert np.flatnonzero(state.mask()).tolist() == [8 * 32 + 17]
    assert state.step(8 * 32 + 17) is None
    assert state.observe("black")[4, 3, 4] == 1
    assert np.flatnonzero(state.mask()).tolist() == [17 * 32 + 26]
    assert state.step(17 * 32 + 26) == "9x18x27"
    assert state.position.is_over and state.position.result > 0


@pytest.mark.parametrize("game", ["othello", "checkers"])
@pytest.mark.parametrize("side", ["black", "white", "random"])
def test_gymnasium_checks(game, side):
    check_env(SingleAgentEnv(game, side=side), skip_render_check=True)


@pytest.mark.parametrize("game", ["Othello", "Checkers"])
def test_gymnasium_finds_the_environments(game):
    script = f"""
import gymnasium
from gymnasium.utils.env_checker import check_env
env = gymnasium.make("outflank.envs:outflank/{game}-v0", opponent="random", render_mode="ansi")
check_env(env.unwrapped)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def play(env, seed):
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    trace = [info["position"]]
    while True:
        legal = np.flatnonzero(observation["action_mask"])
        observation, reward, terminated, _, info = env.step(rng.choice(legal))
        trace.append(info["position"])
        if terminated:
            return trace, reward


def test_the_seed_determines_the_game():
    env = SingleAgentEnv("othello", "heuristic?random=0.5", side="random")
    assert play(env, 4) == play(env, 4)
    assert play(env, 4) != play(env, 5)


def test_the_opponent_is_the_chosen_player():
    strong = [play(SingleAgentEnv("othello", "champion@2"), seed)[1] for seed in range(10)]
    assert sum(strong) <= -8
    env = gymnasium.make("outflank/Checkers-v0", opponent="material@2", side="white")
    assert play(env, 1)[1] in (-1, 0, 1)
    with pytest.raises(outflank.OutflankError):
        SingleAgentEnv(side="green")
    with pytest.raises(outflank.OutflankError):
        SingleAgentEnv(game="chess")


def test_rendering():
    env = othello_v0.env(render_mode="ansi")
    env.reset()
    assert "X" in env.render()
    env = SingleAgentEnv(render_mode="svg")
    env.reset(seed=1)
    assert env.render().startswith("<svg")
