"""Players, matches, leagues, analysis and solutions."""

import concurrent.futures
import multiprocessing
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import outflank
from outflank import OutflankError, Player

PLAYERS = ["heuristic", "random", "yoshioka"]


Executor = concurrent.futures.ThreadPoolExecutor


def play(**options):
    return outflank.league(PLAYERS, games=40, random=0.1, seed=3, **options)


def test_leagues_equal_those_of_the_program(program, tmp_path):
    folder = tmp_path / "run"
    command = [program, "league", *PLAYERS, "--games", "40", "--random", "0.1", "--seed", "3"]
    subprocess.run([*command, "--quiet", "--out", str(folder)], check=True, stdout=subprocess.PIPE)
    journal = tmp_path / "games.tsv"
    league = play(journal=journal)
    league.save(tmp_path / "python")
    assert journal.read_bytes() == (folder / "games.tsv").read_bytes()
    names = ["result.json", "standings.csv", "cross-table.csv", "los.csv", "games.pgn"]
    for name in names:
        assert (tmp_path / "python" / name).read_bytes() == (folder / name).read_bytes(), name


def test_matches_equal_those_of_the_program(program, tmp_path):
    options = ["--games", "30", "--random", "0.1", "--seed", "5", "--quiet"]
    for game, pair in [("othello", ["heuristic@2", "random"]), ("checkers", ["material", "random"])]:
        folder = tmp_path / game
        command = [program, "match", *pair, *options, "--game", game, "--out", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.PIPE)
        match = outflank.play_match(*pair, games=30, random=0.1, seed=5, game=game)
        assert match.to_json() == (folder / "result.json").read_text()


def test_results_do_not_depend_on_threads_or_executor():
    expected = play(threads=1)
    assert play(threads=3).to_json() == expected.to_json()
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        league = play(executor=executor)
        assert league.to_json() == expected.to_json()
        assert league.games == expected.games
        openings = [outflank.Game("f5d6").position, outflank.Game("f5f6").position]
        remote = outflank.play_match("heuristic", "random", openings=openings, executor=executor)
        local = outflank.play_match("heuristic", "random", openings=openings)
        assert remote.to_json() == local.to_json()
        fitted = outflank.sweep(
            outflank.IPref(features="1tuple"),
            [{"C": 0.1}, {"C": 1.0}],
            outflank.embedded_games()[:30],
            outflank.embedded_games()[-30:],
            executor=executor,
        )
        assert all(result["score"] > 0.1 for result in fitted)
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        assert play(executor=executor).to_json() == expected.to_json()


def test_models_in_memory_reach_the_workers():
    fitted = outflank.IPref(features="1tuple").fit(outflank.embedded_games()[:30])
    models = [outflank.load_model(name) for name in ("yoshioka", "ann", "champion")]
    players = [fitted.player("mine"), *(Player(model, name=model.method) for model in models)]
    options = {"games": 4, "random": 0.1, "seed": 2}
    expected = outflank.league(players, **options)
    assert expected.games == outflank.league(
        [players[0], "yoshioka", "ann", "champion"], **options
    ).games
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        assert outflank.league(players, executor=executor, **options).to_json() == expected.to_json()


def test_model_files_reach_the_workers(tmp_path):
    path = tmp_path / "mine.safetensors"
    outflank.load_model("yoshioka").save(path)
    pair = (str(path), "random")
    expected = outflank.play_match(*pair, games=20, random=0.1)
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        remote = outflank.play_match(*pair, games=20, random=0.1, executor=executor)
    assert remote.to_json() == expected.to_json()


def test_dask():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            assert play(executor=client.get_executor()).to_json() == play().to_json()


def test_failing_executors_raise():
    class Broken(concurrent.futures.ThreadPoolExecutor):
        def submit(self, function, *arguments):
            return super().submit(lambda: b"nonsense")

    with Broken(1) as executor, pytest.raises(OutflankError, match="invalid result"):
        play(executor=executor)
    with pytest.raises(OutflankError, match="executor"):
        play(executor=3)
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        with pytest.raises(OutflankError, match="Python function"):
            outflank.play_match(lambda p: p.planes(), "random", games=2, executor=executor)


def test_journals_resume(tmp_path):
    journal = tmp_path / "games.tsv"

    def stop(done, total, message):
        if done >= 16:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        play(journal=journal, threads=1, progress=stop)
    assert 16 <= len(journal.read_text().splitlines()) < 120
    assert play(journal=journal).to_json() == play().to_json()


def test_functions_as_players():
    model = outflank.load_model("yoshioka")
    sizes = []

    def function(positions):
        sizes.append(len(positions))
        return model.policy(positions)

    options = {"games": 40, "random": 0.1, "seed": 2, "threads": 1}
    mine = outflank.play_match(Player(function, name="yoshioka"), "heuristic", **options)
    theirs = outflank.play_match("yoshioka", "heuristic", **options)
    assert mine.counts == theirs.counts and mine.games == theirs.games
    assert max(sizes) > 4, "positions arrive in batches"

    def squares(positions):
        return model.policy(positions).argmax(axis=1)

    assert outflank.play_match(Player(squares, name="s"), "random", games=10).score > 0.5
    assert outflank.play_match(Player(model, name="m"), "random", games=10).score > 0.5

    def first(positions):
        return [[-i for i in range(len(position.moves))] for position in positions]

    checkers = outflank.play_match(
        Player(first, game="checkers"), "random", games=4, game="checkers"
    )
    assert checkers.counts[0] == 4
    assert Player(first, game="checkers").choose(outflank.Game(game="checkers")) == "9-13"


@pytest.mark.parametrize(
    "function",
    [
        lambda positions: 1 / 0,
        lambda positions: np.zeros((1, 3)),
        lambda positions: np.full((len(positions), 64), np.nan),
        lambda positions: np.zeros(len(positions), int),
        lambda positions: "text",
        lambda positions: None,
    ],
)
def test_exceptions_of_functions_are_raised(function):
    with pytest.raises((OutflankError, ZeroDivisionError)):
        outflank.play_match(Player(function, name="bad"), "random", games=10)


@pytest.mark.torch
def test_torch_policy():
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(128, 64))
    player = Player(outflank.TorchPolicy(network), name="linear")
    assert outflank.play_match(player, "random", games=10).counts[0] == 10


def test_onnx_policy(tmp_path):
    pytest.importorskip("onnxruntime")
    path = tmp_path / "cnn.onnx"
    outflank.load_model("cnn").save(path)
    rng = np.random.default_rng(4)
    batch = outflank.Positions.start(20)
    for _ in range(10):
        batch = batch.play(batch.random_moves(rng))
    ours = outflank.load_model("cnn").policy(batch)
    theirs = np.where(batch.mask, outflank.OnnxPolicy(path)(batch), -np.inf)
    assert np.array_equal(theirs.argmax(axis=1), ours.argmax(axis=1))


@pytest.mark.parametrize(
    "call",
    [
        lambda: Player("champoin"),
        lambda: Player("champion@0"),
        lambda: Player("material"),
        lambda: Player(3),
        lambda: Player("champion", name="a\tb"),
        lambda: Player("random", game="chess"),
        lambda: outflank.play_match("random", "random", games=2),
        lambda: outflank.play_match("heuristic", "random", games=3),
        lambda: outflank.play_match("heuristic", "random", games=2, random=2),
        lambda: outflank.play_match("heuristic", "random", games=2, openings=[]),
        lambda: outflank.play_match("heuristic", "random", games=2, openings="no-such-file"),
        lambda: outflank.play_match("heuristic", "random", games=2, sprt=(5, 1)),
        lambda: outflank.play_match("heuristic", "random", games=2, on="nats://127.0.0.1:1"),
        lambda: outflank.league(["heuristic"], games=2),
        lambda: outflank.league(PLAYERS, games=2, draw_elo="maybe"),
        lambda: outflank.analyze(""),
        lambda: outflank.analyze("f5", depth=0),
        lambda: outflank.solve("nothing"),
        lambda: outflank.reproduce("gp/fig9"),
        lambda: outflank.reproduce("gp/fig1", scale="huge"),
        lambda: outflank.reproduce("preference/table2", data="no-such-folder"),
        lambda: outflank.reproduce("preference/table2", executor=Executor()),
    ],
)
def test_wrong_arguments_raise(call):
    with pytest.raises(OutflankError) as error:
        call()
    assert len(str(error.value)) > 10


def test_sprt():
    match = outflank.play_match("heuristic", "random", games=1000, random=0.1, sprt=(0, 10))
    assert match.to_dict()["sprt"]["result"] == "H1" and match.counts[0] < 1000


def test_displays():
    league = outflank.league(["heuristic", "random"], games=4, random=0.1)
    assert "<table" in league._repr_html_() and "heuristic" in str(league)
    assert [row["name"] for row in league.standings] == league.names
    assert league.sub_league(league.names).to_json() == league.to_json()
    assert league.pair("heuristic", "random")["games"] == 4
    assert "<table" in outflank.play_match("heuristic", "random", games=2)._repr_html_()
    assert any(player["name"] == "champion" for player in outflank.players())


def test_analysis():
    analysis = outflank.analyze("f5d6c3d3c4", depth=3, threads=2)
    assert [move["played"] for move in analysis.moves] == ["f5", "d6", "c3", "d3", "c4"]
    assert analysis.moves[0]["loss"] == 0
    assert "<iframe" in analysis._repr_html_() and "f5" in analysis.to_markdown()


def test_solutions():
    assert outflank.solve("X" * 62 + "O- X").score == 64
    # Position 40 of the FFO test suite: 20 empty squares, +38 for Black with a2.
    board = "O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X"
    solution = outflank.solve(board)
    assert (solution.score, solution.best) == (38, "a2")


@pytest.mark.parametrize(
    "work",
    [
        "outflank.play_match('champion@7', 'champion@6', games=2000)",
        "outflank.perft(30)",
        "outflank.load_model('cnn').policy(outflank.Positions.start(100_000))",
        "outflank.accuracy(outflank.load_model('cnn'), outflank.embedded_games().decisions())",
        "outflank.solve('-' * 27 + 'OX------XO' + '-' * 27 + ' X')",
        "outflank.TDL(games=10**9).fit()",
        "outflank.reproduce('coevolution/fig3a', scale='paper')",
    ],
)
def test_ctrl_c_stops(work):
    script = (
        "import outflank, sys\n"
        "print('ready', flush=True)\n"
        "try:\n"
        f"    {work}\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', outflank.play_match('heuristic', 'random', games=4).counts[0])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output == "stopped 4\n"


def test_concurrent_matches():
    expected = outflank.play_match("heuristic", "random", games=20, random=0.1).to_json()
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        futures = [
            executor.submit(outflank.play_match, "heuristic", "random", games=20, random=0.1)
            for _ in range(8)
        ]
        assert all(future.result().to_json() == expected for future in futures)


def test_nats(program, tmp_path):
    import shutil

    server = shutil.which("nats-server")
    if not server:
        pytest.skip("nats-server is not installed")
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"nats://127.0.0.1:{port}"
    command = [server, "-js", "-a", "127.0.0.1", "-p", str(port), "-sd", str(tmp_path)]
    nats = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    worker = None
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        worker = subprocess.Popen(
            [program, "worker", "--on", address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert play(on=address).to_json() == play().to_json()
    finally:
        for process in (worker, nats):
            if process:
                process.terminate()
                process.wait(timeout=30)
