"""Batches whose samples depend on seed, epoch and position alone, on any number of processes."""
import dataclasses
import hashlib
import math
from typing import Any, Callable, Iterator, List, Optional, Tuple, Union

from .errors import FailedPrecondition, InvalidArgument
from .randomness import MASK, loaded, mix, seed_all, state_kept

ROUNDS = 6


class Order:
    """A shuffle of range(size) that gives any one place at once: nothing is stored or replayed.

    A Feistel network over a rectangle a little larger than `size` (Black and Rogaway, 2002,
    generalised Feistel and cycle walking). It is a permutation for every key.
    """

    def __init__(self, size: int, seed: int, epoch: int) -> None:
        self._size = size
        self._rows = math.isqrt(size - 1) + 1 if size > 1 else 1
        self._columns = -(-size // self._rows)
        digest = hashlib.blake2b(f"{seed} {epoch}".encode(), digest_size=8 * ROUNDS).digest()
        self._keys = [int.from_bytes(digest[i:i + 8], "little") for i in range(0, 8 * ROUNDS, 8)]

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: int) -> int:
        if not 0 <= place < self._size:
            raise IndexError(place)
        rows, columns = self._rows, self._columns
        while True:
            column, row = divmod(place, rows)
            for i in range(0, ROUNDS, 2):
                row = (row + mix(self._keys[i] + column & MASK)) % rows
                column = (column + mix(self._keys[i + 1] + row & MASK)) % columns
            place = column * rows + row
            if place < self._size:
                return place


@dataclasses.dataclass(frozen=True)
class Part:
    """What one process gets of a global batch."""

    batch: Any
    samples: int  # in the global batch; 0: not known
    weight: float  # of this process's mean, so that the mean over all processes is the batch's


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the part of one process lies: positions in the epoch's order."""

    first: int
    last: int
    samples: int
    weight: float


class Loader:
    """`batch` samples of `dataset` in each iteration, over all processes together.

    The order is a function of `seed`, epoch and position, so a job that continues on another number
    of processes visits the same samples in the same batches. Process r of n gets the r-th of n
    pieces of each batch. With `random_samples` the random generators are seeded for each sample, so
    that augmentations do not depend on the number of processes or workers either; a dataset that
    draws nothing is read faster without.

    `collate` makes a batch of a list of samples; usually torch's where torch is loaded, else the
    list itself. `workers` are processes of torch's DataLoader, which gets `options` as well.
    """

    def __init__(self, dataset: Any, batch: int, *, seed: int = 0, shuffle: bool = True, drop_last: bool = False,
                 collate: Optional[Callable[[List[Any]], Any]] = None, random_samples: bool = True,
                 workers: int = 0, **options: Any) -> None:
        if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
            raise InvalidArgument("has no length or no [index], so its order cannot be repeated; give a list or a "
                                  "map-style dataset", "dataset")
        if batch < 1:
            raise InvalidArgument(f"{batch} samples; write 1 or more", "batch")
        size = len(dataset)
        if size < (batch if drop_last else 1):
            raise InvalidArgument(f"has {size} samples, too few for one batch of {batch}", "dataset")
        if (workers or options) and loaded("torch") is None:
            raise InvalidArgument("workers are torch's, which is not imported; leave them out", "workers")
        self.dataset = dataset
        self.batch = batch
        self.seed = seed
        self._shuffle = shuffle
        self._drop_last = drop_last
        self._collate = collate
        self._random_samples = random_samples
        self._workers = workers
        self._options = options

    def __len__(self) -> int:
        """Iterations of an epoch."""
        size = len(self.dataset)
        return size // self.batch if self._drop_last else -(-size // self.batch)

    def with_batch(self, batch: int) -> "Loader":
        """The same samples in the same order, cut into batches of another size."""
        return Loader(self.dataset, batch, seed=self.seed, shuffle=self._shuffle, drop_last=self._drop_last,
                      collate=self._collate, random_samples=self._random_samples, workers=self._workers,
                      **self._options)

    def place(self, iteration: int, rank: int, ranks: int) -> Place:
        """Positions of process `rank` in an iteration of an epoch.

        Where a last batch has fewer samples than there are processes, some get one that counts
        nothing: a process without a batch would leave the others waiting.
        """
        begin = iteration * self.batch
        samples = min(self.batch, len(self.dataset) - begin)
        first, last = rank * samples // ranks, (rank + 1) * samples // ranks
        if first == last:
            return Place(begin, begin + 1, samples, 0.0)
        return Place(begin + first, begin + last, samples, (last - first) * ranks / samples)

    def epoch(self, epoch: int, start: int, rank: int, ranks: int) -> Iterator[Part]:
        """Batches of an epoch from iteration `start` on."""
        size = len(self.dataset)
        order: Union[Order, range] = Order(size, self.seed, epoch) if self._shuffle else range(size)
        places = [self.place(i, rank, ranks) for i in range(start, len(self))]
        wanted = ([(order[at], self._sample_seed(epoch, at)) for at in range(place.first, place.last)]
                  for place in places)
        batches = self._by_workers(wanted, len(places)) if self._workers or self._options else self._here(wanted)
        for place, batch in zip(places, batches):
            yield Part(batch, place.samples, place.weight)

    def _sample_seed(self, epoch: int, position: int) -> Optional[int]:
        return mix(mix(mix(self.seed + 1 & MASK) + epoch & MASK) + position & MASK) if self._random_samples else None

    def _together(self) -> Callable[[List[Any]], Any]:
        torch = loaded("torch")
        return self._collate or (torch.utils.data.default_collate if torch is not None else list)

    def _here(self, wanted: Iterator[List[Tuple[int, Optional[int]]]]) -> Iterator[Any]:
        together = self._together()
        for indices in wanted:
            if not self._random_samples:
                yield together([self.dataset[index] for index, _ in indices])
                continue
            with state_kept():
                samples = [_seeded(self.dataset, *index) for index in indices]
            yield together(samples)

    def _by_workers(self, wanted: Iterator[List[Tuple[int, Optional[int]]]], count: int) -> Iterator[Any]:
        data = loaded("torch").utils.data
        generator = loaded("torch").Generator()  # the program's own is not drawn from
        generator.manual_seed(self.seed)
        return iter(data.DataLoader(SeededDataset(self.dataset), batch_sampler=_Batches(wanted, count),
                                    num_workers=self._workers, collate_fn=self._together(), generator=generator,
                                    **self._options))


def _seeded(dataset: Any, index: int, seed: Optional[int]) -> Any:
    if seed is not None:
        seed_all(seed)
    return dataset[index]


class SeededDataset:
    """A dataset whose index is (index, seed). In the program's own process its state is kept."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: Tuple[int, Optional[int]]) -> Any:
        if index[1] is None or loaded("torch").utils.data.get_worker_info() is not None:
            return _seeded(self._dataset, *index)
        with state_kept():
            return _seeded(self._dataset, *index)


class _Batches:
    def __init__(self, wanted: Iterator[List[Tuple[int, Optional[int]]]], count: int) -> None:
        self._wanted = wanted
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[List[Tuple[int, Optional[int]]]]:
        return self._wanted


class AnyIterable:
    """Batches of anything that can be iterated over again: a place in it is found by reading up to it.

    An order that it draws itself has to depend on set_epoch() alone, not on the random state.
    """

    batch = 0

    def __init__(self, iterable: Any) -> None:
        self._iterable = iterable

    def __len__(self) -> int:
        return len(self._iterable)

    def epoch(self, epoch: int, start: int, rank: int, ranks: int) -> Iterator[Part]:
        for of in (self._iterable, getattr(self._iterable, "sampler", None)):
            if hasattr(of, "set_epoch"):
                of.set_epoch(epoch)
        for number, batch in enumerate(self._iterable):
            if number >= start:
                yield Part(batch, 0, 1.0)


def of_torch(loader: Any, ranks: int, seed: int) -> Loader:
    """A torch DataLoader's samples, with its batch as that of each of `ranks` processes."""
    data = loaded("torch").utils.data
    where = "loader"
    if isinstance(loader.dataset, data.IterableDataset):
        raise FailedPrecondition("an IterableDataset has no order that could be repeated; give a map-style dataset, "
                                 "or orrery.AnyIterable(loader) to read up to the place again", where)
    if loader.batch_size is None or type(loader.batch_sampler) is not data.BatchSampler:
        raise FailedPrecondition("has a batch_sampler of its own; give orrery.Loader(dataset, batch=...)", where)
    sampler = loader.sampler
    if isinstance(sampler, data.DistributedSampler):
        shuffle, seed = sampler.shuffle, sampler.seed
    elif isinstance(sampler, data.RandomSampler) and not sampler.replacement:
        shuffle = True
    elif isinstance(sampler, data.SequentialSampler):
        shuffle = False
    else:
        raise FailedPrecondition(f"its sampler is a {type(sampler).__name__}, which has no place to continue from; "
                                 "give orrery.Loader(dataset, batch=...)", where)
    options = {"pin_memory": True} if loader.pin_memory else {}
    if loader.num_workers:
        options.update(worker_init_fn=loader.worker_init_fn, timeout=loader.timeout,
                       prefetch_factor=loader.prefetch_factor, multiprocessing_context=loader.multiprocessing_context)
    return Loader(loader.dataset, loader.batch_size * ranks, seed=seed, shuffle=shuffle, drop_last=loader.drop_last,
                  collate=loader.collate_fn, workers=loader.num_workers, **options)


def samples_in(batch: Any) -> int:
    """How many samples a collated batch has: tensors, in tuples or dicts, or a list of samples."""
    if isinstance(batch, dict):
        return samples_in(next(iter(batch.values())))
    if isinstance(batch, (tuple, list)) and batch and hasattr(batch[0], "shape"):
        return samples_in(batch[0])
    return len(batch)


def piece_of(batch: Any, begin: int, end: int) -> Any:
    """Samples `begin` to `end` of a collated batch."""
    if isinstance(batch, dict):
        return {name: piece_of(value, begin, end) for name, value in batch.items()}
    if isinstance(batch, (tuple, list)) and batch and hasattr(batch[0], "shape"):
        return type(batch)(piece_of(value, begin, end) for value in batch)
    return batch[begin:end]
