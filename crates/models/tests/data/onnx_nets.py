# Asks onnxruntime what the networks of pytorch_nets.txt answer when they are written as ONNX, and prints the
# checksums of the files whose answers are PyTorch's (nets_pytorch.rs):
#     OUTFLANK_ONNX=FOLDER cargo test --release -p outflank-models --test nets_pytorch
#     python onnx_nets.py FOLDER > onnx_nets.txt
# How far the answers are apart goes to the other stream.
import sys
import zlib
from pathlib import Path
import numpy as np
import onnx
import onnxruntime

MASK = 0xFFFFFFFF
WITHIN = 1e-5


def mixed(block, at):
    h = ((at + 1) * 2654435761 ^ (block + 1) * 2246822519) & MASK
    h ^= h >> 15
    h = h * 2246822519 & MASK
    return h ^ h >> 13


stored = {}
for line in (Path(__file__).parent / "pytorch_nets.txt").read_text().splitlines():
    name, planes, *numbers = line.split(" ")
    stored.setdefault((name, planes), []).append([float(number) for number in numbers])

for (name, planes), answers in stored.items():
    path = Path(sys.argv[1]) / f"{name}.onnx"
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    positions, count = len(answers), session.get_inputs()[0].shape[1]
    words = [mixed(999, 2 * i) | mixed(999, 2 * i + 1) << 32 for i in range(positions * count)]
    bits = [[(word >> square) & 1 for square in range(64)] for word in words]
    x = np.array(bits, dtype=np.float32).reshape(positions, count, 8, 8)
    if "+stage" in planes:
        x[:, -4:] = np.eye(4, dtype=np.float32)[:, :, None, None]
    wanted = np.array(answers)
    # All at once, and each alone.
    alone = [session.run(None, {"planes": x[i : i + 1]})[0][0] for i in range(positions)]
    for found in session.run(None, {"planes": x})[0], np.stack(alone):
        apart = np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max())
        print(f"{name}: apart by {apart:.1e} of the largest", file=sys.stderr)
        if not apart <= WITHIN:
            sys.exit(f"{name}: onnxruntime answers otherwise than PyTorch")
    print(name, f"{zlib.crc32(path.read_bytes()):08x}")
