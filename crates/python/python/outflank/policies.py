"""Networks of other libraries as players.

>>> network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(128, 64))
>>> player = outflank.Player(outflank.TorchPolicy(network), name="linear")
>>> outflank.play_match(player, "heuristic", games=100, random=0.1)
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outflank.batch import Positions


class TorchPolicy:
    """Scores moves with a PyTorch module.

    The module receives planes (n x 2 x 8 x 8, or n x 3 x 8 x 8 with `legal=True`, the legal moves)
    and returns scores of the squares (n x 64).
    """

    def __init__(self, module: Any, *, legal: bool = False, device: str = "cpu") -> None:
        self.module = module.to(device).eval()
        self.legal = legal
        self.device = device

    def __call__(self, positions: Positions) -> NDArray[np.float32]:
        """Returns the scores of a batch."""
        import torch

        with torch.inference_mode():
            planes = torch.from_numpy(positions.planes(self.legal)).to(self.device)
            scores: NDArray[np.float32] = self.module(planes).float().cpu().numpy()
            return scores


CENTER = (27, 28, 35, 36)
"""The squares d4, e4, d5 and e5, which are occupied from the start."""


def _all_squares(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Inserts the center into the scores of 60 squares."""
    if scores.shape[1] != 60:
        return scores
    squares = np.full((len(scores), 64), -np.inf, np.float32)
    squares[:, np.delete(np.arange(64), CENTER)] = scores
    return squares


class OnnxPolicy:
    """Scores moves with an ONNX model.

    The model has one input (n x 2 x 8 x 8, or n x 3 x 8 x 8 with `legal=True`) and its first output
    holds the scores of the 64 squares, or of the 60 squares without the four in the center, as in the
    networks that Outflank exports.
    """

    def __init__(self, path: str | os.PathLike[str], *, legal: bool = False) -> None:
        self.path = os.fspath(path)
        self.legal = legal
        self._session: Any = None

    def __call__(self, positions: Positions) -> NDArray[np.float32]:
        """Returns the scores of a batch."""
        if self._session is None:
            import onnxruntime

            self._session = onnxruntime.InferenceSession(
                self.path, providers=["CPUExecutionProvider"]
            )
        name = self._session.get_inputs()[0].name
        scores = self._session.run(None, {name: positions.planes(self.legal)})[0]
        return _all_squares(np.asarray(scores, np.float32).reshape(len(positions), -1))

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "legal": self.legal, "_session": None}
