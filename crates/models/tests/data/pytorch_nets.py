# Outputs of networks in PyTorch, for the comparison in nets_pytorch.rs:
#     python pytorch_nets.py > pytorch_nets.txt
# Weights and boards come from a formula that both sides compute. The stage planes are one-hot for stages 0,
# 1, 2 and 3 in turn.
import math
import numpy as np
import torch
import torch.nn.functional as F

MASK = 0xFFFFFFFF


def mixed(block, at):
    h = ((at + 1) * 2654435761 ^ (block + 1) * 2246822519) & MASK
    h ^= h >> 15
    h = h * 2246822519 & MASK
    return h ^ h >> 13


class Params:
    def __init__(self):
        self.block = -1

    def next(self, role, *shape):
        self.block += 1
        # Fan-in; the matrices of four stages are stacked.
        fan = math.prod(shape[2 if len(shape) == 3 else 1 :])
        values = []
        for at in range(math.prod(shape)):
            u = (mixed(self.block, at) >> 8) / 2.0**24 - 0.5
            values.append({"w": u * math.sqrt(24.0 / fan), "b": 0.4 * u, "s": 1.0 + u}[role])
        return torch.tensor(np.array(values, dtype=np.float64).astype(np.float32)).reshape(shape)


def conv(p, x, out, size=3, stride=1, bias=False):
    w = p.next("w", out, x.shape[1], size, size)
    b = p.next("b", out) if bias else None
    return F.conv2d(x, w, b, stride, size // 2)


def norm(p, x):
    c = x.shape[1]
    scale, shift, mean, variance = (p.next(r, c) for r in "sbbs")
    return F.batch_norm(x, mean, variance, scale, shift, False, 0.1, 1e-5)


def linear(p, x, out, bias=True):
    x = x.flatten(1)
    w = p.next("w", out, x.shape[1])
    return F.linear(x, w, p.next("b", out) if bias else None)


def conv4(p, x):
    for c in (64, 64, 128, 128):
        x = F.relu(conv(p, x, c, bias=True))
    return linear(p, F.relu(linear(p, x, 128)), 60)


def conv8_bn(p, x):
    for c in (64, 64, 128, 128, 256, 256, 256, 256):
        x = F.relu(norm(p, conv(p, x, c)))
    return linear(p, F.relu(linear(p, x, 128)), 60)


def resnet32(p, x):
    x = F.relu(norm(p, conv(p, x, 16)))
    for stack, c in enumerate((16, 32, 64)):
        for block in range(5):
            stride = 2 if stack and not block else 1
            y = norm(p, conv(p, F.relu(norm(p, conv(p, x, c, stride=stride))), c))
            if stride == 2:
                x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, c - x.shape[1]))
            x = F.relu(x + y)
    return linear(p, x.mean((2, 3)), 60)


def resnet32_np_p(p, x):
    # No pooling, and a projection where the number of channels grows.
    x = F.relu(norm(p, conv(p, x, 16)))
    for c in (16, 32, 64):
        for _ in range(5):
            y = norm(p, conv(p, F.relu(norm(p, conv(p, x, c))), c))
            if x.shape[1] != c:
                x = norm(p, conv(p, x, c, size=1))
            x = F.relu(x + y)
    return linear(p, x, 60)


def widenet40_4(p, x):
    x = conv(p, x, 16)
    for stack, c in enumerate((64, 128, 256)):
        for block in range(6):
            stride = 2 if stack and not block else 1
            before = F.relu(norm(p, x))
            y = conv(p, F.relu(norm(p, conv(p, before, c, stride=stride))), c)
            if x.shape[1] != c:
                x = conv(p, before, c, size=1, stride=stride)
            x = x + y
    return linear(p, F.relu(norm(p, x)).mean((2, 3)), 60)


def tower_pre(p, x):
    x = conv(p, x, 16)
    for _ in range(2):
        x = x + conv(p, F.relu(norm(p, conv(p, F.relu(norm(p, x)), 16))), 16)
    x = conv(p, F.relu(norm(p, x)), 32, size=1)
    return linear(p, F.relu(norm(p, x)), 60)


def tower_se(p, x):
    x = F.relu(norm(p, conv(p, x, 16)))
    for _ in range(2):
        y = norm(p, conv(p, F.relu(norm(p, conv(p, x, 16))), 16))
        z = linear(p, F.relu(linear(p, y.mean((2, 3)), 4)), 32)
        gate, shift = z[:, :16, None, None], z[:, 16:, None, None]
        x = F.relu(x + y * torch.sigmoid(gate) + shift)
    return linear(p, F.relu(norm(p, conv(p, x, 32, size=1))), 60)


def densenet40(p, x):
    x = conv(p, x, 16)
    for block in range(3):
        for _ in range(12):
            x = torch.cat([x, conv(p, F.relu(norm(p, x)), 12)], 1)
        if block < 2:
            x = F.avg_pool2d(conv(p, F.relu(norm(p, x)), x.shape[1], size=1), 2)
    return linear(p, F.relu(norm(p, x)).mean((2, 3)), 60)


def fully(p, x):
    for _ in range(2):
        x = F.relu(norm(p, linear(p, x, 64, bias=False)))
    return linear(p, x, 60)


def conv8_bn_stages(p, x):
    # Each position uses the linear layers of its stage.
    stages = x[:, -4:, 0, 0].argmax(1).tolist()
    for c in (64, 64, 128, 128, 256, 256, 256, 256):
        x = F.relu(norm(p, conv(p, x, c)))
    hidden = p.next("w", 4, 128, 64 * 256), p.next("b", 4, 128)
    out = p.next("w", 4, 60, 128), p.next("b", 4, 60)
    outputs = []
    for maps, s in zip(x.flatten(1), stages):
        units = F.relu(F.linear(maps, hidden[0][s], hidden[1][s]))
        outputs.append(F.linear(units, out[0][s], out[1][s]))
    return torch.stack(outputs)


CASES = [
    ("conv4", "pieces", 2, conv4),
    ("conv8-bn", "pieces", 2, conv8_bn),
    ("resnet-32", "pieces", 2, resnet32),
    ("resnet-32-np-p", "pieces", 2, resnet32_np_p),
    ("widenet-40-4", "pieces", 2, widenet40_4),
    ("res2x16-pre", "ones", 3, tower_pre),
    ("res2x16-se", "vmoves+colour", 4, tower_se),
    ("densenet-40", "ones", 3, densenet40),
    ("fc2x64", "pieces", 2, fully),
    ("conv8-bn-stages", "pieces+stage", 6, conv8_bn_stages),
]

torch.set_num_threads(1)
for name, planes, count, run in CASES:
    positions = 4 if "+stage" in planes else 2
    words = [mixed(999, 2 * i) | mixed(999, 2 * i + 1) << 32 for i in range(positions * count)]
    bits = [[(word >> square) & 1 for square in range(64)] for word in words]
    x = torch.tensor(bits, dtype=torch.float32).reshape(positions, count, 8, 8)
    if "+stage" in planes:
        x[:, -4:] = torch.eye(4)[:, :, None, None]
    for output in run(Params(), x):
        print(name, planes, " ".join(f"{v:.6g}" for v in output.tolist()))
