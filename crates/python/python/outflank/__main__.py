"""The command line: `python -m outflank`."""

import sys

from outflank import _outflank
from outflank.program import program_argv


def main() -> None:
    """Runs the program with the arguments of this process."""
    if not hasattr(_outflank, "run_program"):
        raise SystemExit("this build of the package does not contain the command line")
    sys.exit(_outflank.run_program(program_argv(sys.argv[1:])))


if __name__ == "__main__":
    main()
