"""Random state of this process: python's, numpy's and torch's, of those that are loaded."""
import contextlib
import random
import sys
from typing import Any, Dict, Iterator

MASK = (1 << 64) - 1


def mix(value: int) -> int:
    """A permutation of 64 bits that spreads each of them (the finaliser of splitmix64)."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def loaded(name: str) -> Any:
    """A module that the program has imported; None otherwise. Nothing is imported for it."""
    return sys.modules.get(name)


def random_state() -> Dict[str, Any]:
    state: Dict[str, Any] = {"python": random.getstate()}
    numpy, torch = loaded("numpy"), loaded("torch")
    if numpy is not None:
        state["numpy"] = numpy.random.get_state()
    if torch is not None:
        state["torch"] = torch.get_rng_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            state["cuda"] = torch.cuda.get_rng_state()  # of this process's own device
    return state


def set_random_state(state: Dict[str, Any]) -> None:
    random.setstate(state["python"])
    numpy, torch = loaded("numpy"), loaded("torch")
    if numpy is not None and "numpy" in state:
        numpy.random.set_state(state["numpy"])
    if torch is not None and "torch" in state:
        torch.set_rng_state(state["torch"])
        if "cuda" in state and torch.cuda.is_available():
            torch.cuda.set_rng_state(state["cuda"])


def seed_all(seed: int) -> None:
    """Seeds the generators on the CPU; those of GPUs go on."""
    random.seed(seed)
    numpy, torch = loaded("numpy"), loaded("torch")
    if numpy is not None:
        numpy.random.seed(seed & 0xFFFFFFFF)
    if torch is not None:
        torch.default_generator.manual_seed(seed & (MASK >> 1))


@contextlib.contextmanager
def state_kept() -> Iterator[None]:
    """What is drawn inside the block changes nothing outside of it. On the CPU only."""
    numpy, torch = loaded("numpy"), loaded("torch")
    python = random.getstate()
    of_numpy = numpy.random.get_state() if numpy is not None else None
    of_torch = torch.get_rng_state() if torch is not None else None
    try:
        yield
    finally:
        random.setstate(python)
        if numpy is not None:
            numpy.random.set_state(of_numpy)
        if torch is not None:
            torch.set_rng_state(of_torch)
