# Runs the ONNX files of the networks of pytorch_nets.txt with onnxruntime and prints the checksums of those
# whose outputs match PyTorch (see nets_pytorch.rs):
#     OUTFLANK_ONNX=FOLDER cargo test --release -p outflank-models --test nets_pytorch
#     python onnx_nets.py FOLDER > onnx_nets.txt
# Differences are printed to standard error.
import sys
import zlib
from pathlib import Path
import numpy as np
import onnx
import onnxruntime

MASK = 0xFFFFFFFF
TOLERANCE = 1e-5


def mixed(block, at):
    h = ((at + 1) * 2654435761 ^ (block + 1) * 2246822519) & MASK
    h ^= h >> 15
    h = h * 2246822519 & MASK
    return h ^ h >> 13


stored = {}
for line in (Path(__file__).parent / "pytorch_nets.txt").read_text().splitlines():
    name, planes, *numbers = line.split(" ")
    stored.setdefault((name, planes), []).append([float(number) for number in numbers])

for (name, planes), outputs in stored.items():
    path = Path(sys.argv[1]) / f"{name}.onnx"
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    positions, count = len(outputs), session.get_inputs()[0].shape[1]
    words = [mixed(999, 2 * i) | mixed(999, 2 * i + 1) << 32 for i in range(positions * count)]
    bits = [[(word >> square) & 1 for square in range(64)] for word in words]
    x = np.array(bits, dtype=np.float32).reshape(positions, count, 8, 8)
    if "+stage" in planes:
        x[:, -4:] = np.eye(4, dtype=np.float32)[:, :, None, None]
    expected = np.array(outputs)
    # As one batch, and one by one.
    single = [session.run(None, {"planes": x[i : i + 1]})[0][0] for i in range(positions)]
    for found in session.run(None, {"planes": x})[0], np.stack(single):
        error = np.abs(found - expected).max() / max(1.0, np.abs(expected).max())
        print(f"{name}: relative error {error:.1e}", file=sys.stderr)
        if not error <= TOLERANCE:
            sys.exit(f"{name}: the outputs of onnxruntime and PyTorch differ")
    print(name, f"{zlib.crc32(path.read_bytes()):08x}")
