"""Computes LIBLINEAR's optimum on rows written by the example `export_liblinear`.

Needs `pip install liblinear-official`.

    python optimum.py ROWS [TOLERANCE]

Prints the version, the CPU seconds of its primal solver (-s 2, C = 1, no bias, one thread), the
objective recomputed from the weights, and the weights in full precision.
"""
import sys
import time
from importlib.metadata import version

from liblinear.liblinearutil import parameter, problem, svm_read_problem, train

labels, rows = svm_read_problem(sys.argv[1])
tolerance = sys.argv[2] if len(sys.argv) > 2 else "0.01"
prepared = problem(labels, rows)
began = time.process_time()
model = train(prepared, parameter(f"-s 2 -c 1 -q -e {tolerance}"))
seconds = time.process_time() - began
flip = 1.0 if model.get_labels()[0] == 1 else -1.0
weights = [flip * model.w[i] for i in range(model.get_nr_feature())]
objective = 0.5 * sum(w * w for w in weights)
for label, row in zip(labels, rows):
    product = sum(weights[i - 1] * value for i, value in row.items() if i >= 1)
    objective += max(0.0, 1.0 - label * product) ** 2
print("liblinear-official", version("liblinear-official"), "tolerance", tolerance)
print("seconds", round(seconds, 2))
print("objective", repr(objective))
print("weights", " ".join(repr(w) for w in weights))
