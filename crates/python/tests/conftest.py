"""Fixtures: the data folder and the command-line program, where they exist."""

import os
import pathlib
import shutil

import pytest

import outflank

ROOT = pathlib.Path(__file__).resolve().parents[3]


def pytest_addoption(parser):
    parser.addoption("--fail-on-skip", action="store_true", help="fail if a test was skipped")


def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--fail-on-skip") and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    """The data folder of OUTFLANK_DATA."""
    folder = os.environ.get("OUTFLANK_DATA")
    if not folder:
        pytest.skip("OUTFLANK_DATA is not set")
    return pathlib.Path(folder)


@pytest.fixture(scope="session")
def program() -> str:
    """The command-line program: OUTFLANK_PROGRAM, or the release build of the checkout."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = os.environ.get("OUTFLANK_PROGRAM") or shutil.which(str(target / "release" / "outflank"))
    if not built:
        pytest.skip("the program outflank is not built")
    return built


@pytest.fixture(scope="session")
def games() -> outflank.Games:
    """Every tenth embedded game."""
    return outflank.embedded_games()[::10]
