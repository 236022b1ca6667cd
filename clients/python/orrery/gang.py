"""The processes of a training: one alone, or those of torch.distributed."""
from typing import Any, List, Mapping

from .errors import FailedPrecondition
from .randomness import loaded


class Gang:
    """Rank, count, and what the processes say to each other; over Gloo, so that no GPU is needed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        torch = loaded("torch")
        distributed = torch.distributed if torch is not None and torch.distributed.is_available() else None
        self.rank, self.ranks = 0, 1
        self._distributed: Any = None
        self._group: Any = None
        started = _number(environment, "ORRERY_RANKS", 1)
        if distributed is not None and distributed.is_initialized():
            self.rank, self.ranks = distributed.get_rank(), distributed.get_world_size()
        elif max(started, _number(environment, "WORLD_SIZE", 1)) > 1:
            raise FailedPrecondition(
                f"this is one of {max(started, _number(environment, 'WORLD_SIZE', 1))} processes, which cannot speak "
                "to each other; call torch.distributed.init_process_group() before orrery.training()", "training")
        if self.ranks > 1:
            self._distributed = distributed
            self._group = distributed.new_group(backend="gloo")
        # With a socket for each process the scheduler makes them agree. torchrun starts several
        # processes behind one socket: the first of a node speaks, and all hear what it heard.
        self.own_socket = self.ranks == started and self.rank == _number(environment, "ORRERY_RANK", 0)
        self.speaks = self.own_socket or _number(environment, "LOCAL_RANK", 0) == 0

    def gather(self, value: Any) -> List[Any]:
        """The value of each process, by rank."""
        if self._group is None:
            return [value]
        found: List[Any] = [None] * self.ranks
        self._distributed.all_gather_object(found, value, group=self._group)
        return found

    def first(self, value: Any) -> Any:
        """The value of process 0."""
        if self._group is None:
            return value
        found = [value]
        self._distributed.broadcast_object_list(found, src=0, group=self._group)
        return found[0]

    def any(self, value: bool) -> bool:
        """True if it is true in one of them."""
        if self._group is None:
            return value
        flag = loaded("torch").tensor([int(value)])
        self._distributed.all_reduce(flag, op=self._distributed.ReduceOp.MAX, group=self._group)
        return bool(flag.item())

    def close(self) -> None:
        if self._group is not None and self._distributed.is_initialized():
            self._distributed.destroy_process_group(self._group)
        self._group = None


def _number(environment: Mapping[str, str], name: str, usual: int) -> int:
    try:
        return int(environment.get(name, ""))
    except ValueError:
        return usual
