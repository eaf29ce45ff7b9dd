"""Executes a notebook and fails if a cell fails. The file is not changed.

    python examples/python/execute.py NOTEBOOK [OUTPUT]
"""

import sys

import nbformat
from nbclient import NotebookClient


def main() -> None:
    """Executes the notebook of the first argument; writes it to the second, if there is one."""
    path = sys.argv[1]
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=3600, kernel_name="python3").execute()
    if len(sys.argv) > 2:
        nbformat.write(notebook, sys.argv[2])
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain")
            if text:
                print(text.rstrip())


if __name__ == "__main__":
    main()
