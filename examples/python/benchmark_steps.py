"""Measures steps per second of batched Othello: legal moves, a random choice, play.

Compares outflank on one core with plain NumPy and, if installed, pgx on the CPU. Every program plays
the same number of complete random games, and the mean of the results is checked.

    python examples/python/benchmark_steps.py [--batch 4096] [--seconds 3]
"""

import argparse
import os
import time

# One core for all programs; set before NumPy and JAX are loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np  # noqa: E402

import outflank  # noqa: E402


def play_outflank(batch, rng):
    """Plays a batch of random games; returns steps and the results for Black."""
    positions = outflank.Positions.start(batch)
    steps = 0
    while True:
        running = np.count_nonzero(positions.legal)
        if not running:
            return steps, positions.disc_differences
        steps += running
        positions = positions.play(positions.random_moves(rng))


DIRECTIONS = [(1, 0xFEFE_FEFE_FEFE_FEFE), (8, 0xFFFF_FFFF_FFFF_FFFF), (9, 0xFEFE_FEFE_FEFE_FEFE)]
DIRECTIONS += [(7, 0x7F7F_7F7F_7F7F_7F7F)]


def shifts():
    """Returns the eight one-square shifts of a bitboard."""
    all_shifts = []
    for step, mask in DIRECTIONS:
        step, up = np.uint64(step), np.uint64(mask)
        down = np.uint64((mask >> int(step)) & (2**64 - 1))
        all_shifts.append(lambda x, s=step, m=up: (x << s) & m)
        all_shifts.append(lambda x, s=step, m=down: (x >> s) & m)
    return all_shifts


SHIFTS = shifts()


def numpy_moves(own, other):
    """Returns the legal moves of a batch with NumPy operations."""
    empty = ~(own | other)
    moves = np.zeros_like(own)
    for shift in SHIFTS:
        line = shift(own) & other
        for _ in range(5):
            line |= shift(line) & other
        moves |= shift(line) & empty
    return moves


def numpy_flips(own, other, bit):
    """Returns the discs that a batch of moves flips."""
    flips = np.zeros_like(own)
    for shift in SHIFTS:
        line = shift(bit) & other
        for _ in range(5):
            line |= shift(line) & other
        flips |= np.where(shift(line) & own != 0, line, np.uint64(0))
    return flips


def play_numpy(batch, rng):
    """Plays a batch of random games with plain NumPy."""
    start = outflank.Positions.start(batch)
    own, other, side = start.own, start.other, np.zeros(batch, np.int8)
    moves, steps = numpy_moves(own, other), 0
    while True:
        running = moves != 0
        count = np.count_nonzero(running)
        if not count:
            difference = np.bitwise_count(own).astype(int) - np.bitwise_count(other)
            return steps, np.where(side == 0, difference, -difference)
        steps += count
        # The bit of a random rank among the legal moves.
        rank = (rng.random(batch) * np.bitwise_count(moves)).astype(np.int64)
        rest = moves.copy()
        for lower in range(int(rank.max())):
            rest = np.where(rank > lower, rest & (rest - np.uint64(1)), rest)
        bit = rest & (~rest + np.uint64(1))
        flips = numpy_flips(own, other, bit)
        after = np.where(running, other ^ flips, own), np.where(running, own | flips | bit, other)
        (own, other), side = after, np.where(running, side ^ 1, side)
        moves = numpy_moves(own, other)
        passed = numpy_moves(other, own)
        swap = (moves == 0) & (passed != 0)
        own, other = np.where(swap, other, own), np.where(swap, own, other)
        moves, side = np.where(swap, passed, moves), np.where(swap, side ^ 1, side)


def pgx_player(batch):
    """Returns a function that plays a batch of random games with pgx, compiled by JAX."""
    import jax
    import jax.numpy as jnp
    import pgx

    env = pgx.make("othello")
    init, step = jax.vmap(env.init), jax.vmap(env.step)

    def turn(carry):
        state, key, steps = carry
        key, drawn = jax.random.split(key)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        action = jax.random.categorical(drawn, logits, axis=1)
        steps += jnp.sum(~state.terminated)
        return step(state, action), key, steps

    @jax.jit
    def play(key):
        keys = jax.random.split(key, batch)
        carry = (init(keys), key, jnp.int32(0))
        return jax.lax.while_loop(lambda carry: ~carry[0].terminated.all(), turn, carry)

    def run(_, rng):
        state, _, steps = play(jax.random.PRNGKey(int(rng.integers(1 << 31))))
        return int(steps), None

    return run


def measure(name, play, batch, seconds):
    """Prints the steps per second of a program on one core."""
    rng = np.random.default_rng(1)
    play(batch, rng)  # compilation and caches
    # Processor time, since other programs may use the core too.
    steps, results, start = 0, [], time.process_time()
    while time.process_time() - start < seconds:
        played, result = play(batch, rng)
        steps += played
        results.append(result)
    rate = steps / (time.process_time() - start)
    note = ""
    if results[0] is not None:
        results = np.concatenate(results)
        # Random games favor White a little.
        assert -3 < results.mean() < 0, results.mean()
        note = f", mean result {results.mean():+.2f} discs in {len(results):,} games"
    print(f"{name:10} {rate / 1e6:8.2f} million steps/s{note}", flush=True)
    return rate


def main():
    """Measures all programs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--minimum", type=float, default=0.0, help="fail below this many million")
    arguments = parser.parse_args()
    rate = measure("outflank", play_outflank, arguments.batch, arguments.seconds)
    measure("numpy", play_numpy, arguments.batch, arguments.seconds)
    try:
        pgx = pgx_player(arguments.batch)
    except ImportError as error:
        print(f"pgx        not measured: {error}")
    else:
        measure("pgx", pgx, arguments.batch, arguments.seconds)
    if rate < arguments.minimum * 1e6:
        raise SystemExit(f"outflank is slower than {arguments.minimum} million steps/s")


if __name__ == "__main__":
    main()
