"""Metrics of a training: a CSV file always, TensorBoard where it is installed."""
import csv
import io
import os
import pathlib
from typing import Any, Dict, List, Optional, TextIO

from .randomness import loaded

FIRST = ["iteration", "epoch", "samples", "time_s", "loss", "samples_per_s"]


class Metrics:
    """Rows of one training. A run that continues keeps the rows up to where it continues from."""

    def __init__(self, path: str, iteration: int, board: str = "") -> None:
        self.path = pathlib.Path(path)
        self._columns = list(FIRST)
        self._file: Optional[TextIO] = None
        self._rows: List[Dict[str, str]] = self._read(iteration)
        self._rewrite()
        self._board = _board(board, iteration) if board else None

    def write(self, row: Dict[str, Any]) -> None:
        new = [name for name in row if name not in self._columns]
        if new:  # a metric that is reported for the first time
            self._rows = self._read(None)
            self._columns += new
            self._rewrite()
        if self._file is not None:
            csv.DictWriter(self._file, self._columns, lineterminator="\n").writerow(row)
            self._file.flush()
        if self._board is not None:
            for name, value in row.items():
                if name not in ("iteration", "time_s") and isinstance(value, (int, float)):
                    self._board.add_scalar(name, value, row["iteration"])

    def close(self) -> None:
        if self._file is not None:
            self._file.close()  # each row was flushed
        if self._board is not None:
            self._board.close()

    def _read(self, iteration: Any) -> List[Dict[str, str]]:
        try:
            with open(self.path, newline="", encoding="utf-8", errors="replace") as file:
                text = file.read()
        except FileNotFoundError:
            return []
        whole = text[:text.rfind("\n") + 1]  # the last line may be cut off
        reader = csv.DictReader(io.StringIO(whole))
        for name in reader.fieldnames or []:
            if name not in self._columns:
                self._columns.append(name)
        return [row for row in reader if row.get("iteration", "").isdigit()
                and (iteration is None or int(row["iteration"]) <= iteration)]

    def _rewrite(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(self.path.name + ".new")
        with open(draft, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self._columns, lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self._rows)
        self._rows = []
        if self._file is not None:
            self._file.close()
        os.replace(draft, self.path)
        self._file = open(self.path, "a", newline="", encoding="utf-8")


def _board(folder: str, iteration: int) -> Any:
    if loaded("torch") is None:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except Exception:  # not installed, or an installation that does not fit this torch
        return None
    return SummaryWriter(folder, purge_step=iteration + 1)
