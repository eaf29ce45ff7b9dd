"""Experiments equal those of the program, on every executor."""

import concurrent.futures
import multiprocessing
import subprocess

import pytest

import outflank

OPTIONS = {"scale": "smoke", "seed": 3}


@pytest.mark.parametrize("name", ["gp/fig3", "coevolution/fig3a"])
def test_experiments_equal_those_of_the_program(name, program, tmp_path):
    run = tmp_path / "run"
    command = [program, "reproduce", name, "--scale", "smoke", "--seed", "3", "--out", run]
    subprocess.run([*command, "--quiet"], check=True, stdout=subprocess.PIPE)
    report = outflank.reproduce(name, **OPTIONS)
    report.save(tmp_path / "python")
    files = sorted(path.name for path in (tmp_path / "python").iterdir())
    assert {"cells.csv", "report.html", "report.json"} < set(files)
    for file in files:
        assert (tmp_path / "python" / file).read_bytes() == (run / file).read_bytes(), file


def test_runs_spread_over_processes():
    expected = outflank.reproduce("gp/fig1", **OPTIONS)
    messages = []
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        report = outflank.reproduce(
            "gp/fig1", executor=executor, progress=lambda *call: messages.append(call), **OPTIONS
        )
    assert report.to_dict() == expected.to_dict()
    assert report.to_html() == expected.to_html()
    assert any("trained" in message for _, _, message in messages)


def test_reports():
    report = outflank.reproduce("gp/fig3", **OPTIONS)
    assert (report.experiment, report.scale) == ("gp/fig3", "smoke")
    assert report.cells == report.to_dict()["cells"]
    assert {"row", "column", "paper", "ours", "error"} == set(report.cells[0])
    assert "<iframe" in report._repr_html_() and report.title in str(report)


def test_exceptions_of_progress_stop(tmp_path):
    def fail(done, total, message):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        outflank.reproduce("gp/fig1", progress=fail, out=tmp_path, **OPTIONS)
    # The same call continues.
    again = outflank.reproduce("gp/fig1", out=tmp_path, **OPTIONS)
    assert again.to_dict() == outflank.reproduce("gp/fig1", **OPTIONS).to_dict()


def test_experiments_are_listed():
    rows = outflank.experiments()
    names = [row["name"] for row in rows]
    assert len(names) == len(set(names)) == 37
    assert {"preference/table2", "cnn/table9", "gp/fig1"} < set(names)
    assert all(row["about"] and row["paper"] for row in rows)
    assert [row["remote"] for row in rows if row["name"] == "gp/fig1"] == [True]
