"""Checkpoints of a training: whole or not at all, verified, and the one before is kept.

iteration-N.pt (torch.save) or iteration-N.pickle holds the state, iteration-N.json its size and
SHA-256. The state is written first; a state without a JSON file that fits counts as not there.
"""
import hashlib
import json
import os
import pathlib
import pickle
import re
from typing import Any, BinaryIO, Dict, Iterator, List, Optional, Tuple

from .errors import DataLoss, FailedPrecondition, ResourceExhausted
from .randomness import loaded

VERSION = 1
KEPT = 2
PIECE = 1 << 20


class _Hashed:
    """A file that is only appended to, and hashed on its way.

    A fault is kept for finish(): raised inside torch.save it would abort the process.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._fault: Optional[OSError] = None
        self.hash = hashlib.sha256()
        self.size = 0

    def write(self, data: Any) -> int:
        written = memoryview(data).nbytes
        if self._fault is None:
            self.hash.update(data)
            self.size += written
            try:
                self._file.write(data)
            except OSError as fault:
                self._fault = fault
        return written

    def flush(self) -> None:
        pass

    def finish(self) -> None:
        """Returns when all is on disk."""
        if self._fault is not None:
            raise self._fault
        self._file.flush()
        os.fsync(self._file.fileno())


class Checkpoints:
    """Those of one training, in one folder that all its processes see."""

    def __init__(self, folder: str) -> None:
        self.folder = pathlib.Path(folder)

    def save(self, iteration: int, state: Dict[str, Any]) -> pathlib.Path:
        """Returns when the state is on disk. What was there before is whole if this fails."""
        torch = loaded("torch")
        path = self.folder / f"iteration-{iteration}.{'pickle' if torch is None else 'pt'}"
        draft = path.with_name(path.name + ".new")
        manifest = path.with_suffix(".json")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._remove(self.iterations())  # what a process that was killed left half
            with open(draft, "wb") as file:
                out = _Hashed(file)
                if torch is None:
                    pickle.dump(state, out, protocol=4)
                else:
                    torch.save(state, out)
                out.finish()
            manifest.unlink(missing_ok=True)  # of a damaged one of the same iteration
            os.replace(draft, path)
            self._write_manifest(manifest, {"version": VERSION, "iteration": iteration, "file": path.name,
                                            "bytes": out.size, "sha256": out.hash.hexdigest()})
        except OSError as fault:
            if self.folder.is_dir():
                self._remove(self.iterations())
            raise ResourceExhausted(f"the checkpoint of iteration {iteration} could not be written "
                                    f"({fault.strerror or fault}); free space there, or name another folder",
                                    str(self.folder)) from fault
        # Later ones are of a run that was given up.
        self._remove([older for older in self.iterations() if older <= iteration][:KEPT])
        return path

    def iterations(self) -> List[int]:
        """Of the checkpoints that claim to be there, the newest first."""
        if not self.folder.is_dir():
            return []
        found = (re.fullmatch(r"iteration-(\d+)\.json", name) for name in os.listdir(self.folder))
        return sorted((int(match.group(1)) for match in found if match), reverse=True)

    def newest(self) -> Tuple[Optional[int], List[str]]:
        """The newest that is whole, and what is wrong with newer ones.

        DataLoss if there are some and none is whole: to begin again is for the user to decide.
        """
        faults: List[str] = []
        for iteration in self.iterations():
            try:
                self.verify(iteration)
                return iteration, faults
            except DataLoss as fault:
                faults.append(str(fault))
        if faults:
            raise DataLoss("no checkpoint is whole (" + "; ".join(faults) + "); restore one from a copy, or remove "
                           "them all to begin again", str(self.folder))
        return None, faults

    def verify(self, iteration: int) -> pathlib.Path:
        """The file of a checkpoint. DataLoss says what is wrong with it."""
        manifest = self.folder / f"iteration-{iteration}.json"
        try:
            said = json.loads(manifest.read_text(encoding="utf-8"))
            name, size, digest = str(said["file"]), int(said["bytes"]), str(said["sha256"])
            version = int(said["version"])
        except (OSError, ValueError, KeyError, TypeError) as fault:
            raise DataLoss(f"cannot be read ({fault})", str(manifest)) from None
        if version > VERSION:
            raise FailedPrecondition(f"is of version {version}, and this program reads {VERSION}; use a newer one",
                                     str(manifest))
        path = self.folder / name
        if path.parent != self.folder:
            raise DataLoss(f"names a file elsewhere, {name!r}", str(manifest))
        try:
            with open(path, "rb") as file:
                found = hashlib.sha256()
                length = 0
                for piece in _pieces(file):
                    found.update(piece)
                    length += len(piece)
        except OSError as fault:
            raise DataLoss(f"cannot be read ({fault.strerror})", str(path)) from None
        if length != size or found.hexdigest() != digest:
            raise DataLoss(f"is damaged: it has {length} bytes of {size}" if length != size else
                           "is damaged: its bytes are not those that were written", str(path))
        return path

    def load(self, iteration: int) -> Dict[str, Any]:
        """The state of a checkpoint that was verified. It is code of this program's own user."""
        path = self.verify(iteration)
        if path.suffix == ".pickle":
            with open(path, "rb") as file:
                return dict(pickle.load(file))
        torch = loaded("torch")
        if torch is None:
            raise FailedPrecondition("was written by torch; import torch before the training begins", str(path))
        options = {"weights_only": False} if "weights_only" in torch.load.__code__.co_varnames else {}
        return dict(torch.load(path, map_location="cpu", **options))

    def _write_manifest(self, manifest: pathlib.Path, said: Dict[str, Any]) -> None:
        draft = manifest.with_name(manifest.name + ".new")
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(said, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, manifest)
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _remove(self, but: List[int]) -> None:
        """Everything but the checkpoints of these iterations."""
        names = {f"iteration-{iteration}{suffix}" for iteration in but for suffix in (".json", ".pt", ".pickle")}
        found = [name for name in os.listdir(self.folder) if re.fullmatch(r"iteration-\d+\.(json|pt|pickle)(\.new)?", name)]
        # The JSON files first: a state without one is not there.
        for name in sorted(found, key=lambda name: ".json" not in name):
            if name not in names:
                (self.folder / name).unlink(missing_ok=True)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while True:
        piece = file.read(PIECE)
        if not piece:
            return
        yield piece
