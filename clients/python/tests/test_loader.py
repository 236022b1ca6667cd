"""The order of samples is a function of seed, epoch and position, on any number of processes."""
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import orrery  # noqa: E402
from orrery.loader import AnyIterable, Order, of_torch, piece_of, samples_in  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

FIXED = [5, 7, 9, 1, 8, 4, 3, 0, 6, 2]  # checkpoints rely on it


class Noisy:
    """A dataset with augmentations: what it draws belongs to the sample."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return (index, random.random()) if torch is None else (index, random.random(), torch.rand(1).item())


def visited(loader, epoch, ranks, start=0):
    """The samples of each batch over all processes."""
    parts = [list(loader.epoch(epoch, start, rank, ranks)) for rank in range(ranks)]
    return [[sample for part in batch if part.weight for sample in part.batch] for batch in zip(*parts)]


class TheOrder(unittest.TestCase):
    def test_is_a_permutation_of_any_size(self):
        for size in [*range(1, 70), 97, 128, 1000, 1025]:
            for epoch in range(2):
                self.assertEqual(sorted(Order(size, 3, epoch)), list(range(size)))

    def test_differs_by_seed_and_by_epoch_and_never_changes(self):
        self.assertEqual(list(Order(10, 0, 0)), list(Order(10, 0, 0)))
        orders = {tuple(Order(50, seed, epoch)) for seed in range(5) for epoch in range(5)}
        self.assertEqual(len(orders), 25)
        self.assertEqual(list(Order(10, 1, 2)), FIXED)

    def test_puts_each_sample_anywhere_equally_often(self):
        counts = [[0] * 8 for _ in range(8)]
        for epoch in range(4000):
            for place, sample in enumerate(Order(8, 9, epoch)):
                counts[place][sample] += 1
        for count in sum(counts, []):
            self.assertLess(abs(count - 500), 120)  # 5.7 standard deviations

    def test_has_no_place_outside(self):
        for place in (-1, 10):
            with self.assertRaises(IndexError):
                Order(10, 0, 0)[place]


class TheLoader(unittest.TestCase):
    def test_visits_the_same_samples_in_every_layout(self):
        for drop_last in (False, True):
            loader = orrery.Loader(Noisy(103), 10, seed=4, drop_last=drop_last, collate=list)
            alone = visited(loader, 2, 1)
            self.assertEqual(len(alone), len(loader))
            self.assertEqual(sorted(sample[0] for batch in alone for sample in batch)[:3], [0, 1, 2])
            for ranks in (2, 3, 4, 7):
                self.assertEqual(visited(loader, 2, ranks), alone)
                self.assertEqual(visited(loader, 2, ranks, start=6), alone[6:])

    def test_weights_make_the_mean_over_processes_that_of_the_batch(self):
        loader = orrery.Loader(list(range(103)), 10, collate=list)
        for ranks in (1, 2, 3, 4, 8):
            parts = [list(loader.epoch(0, 0, rank, ranks)) for rank in range(ranks)]
            for batch in zip(*parts):
                every = [sample for part in batch if part.weight for sample in part.batch]
                means = [part.weight * sum(part.batch) / len(part.batch) for part in batch]
                self.assertAlmostEqual(sum(means) / ranks, sum(every) / len(every))
                self.assertTrue(all(part.batch for part in batch), "each process gets a batch, or the others wait for it")

    def test_changes_nothing_of_the_programs_own_random_state(self):
        random.seed(5)
        before = random.getstate()
        list(orrery.Loader(Noisy(20), 4).epoch(0, 0, 0, 1))
        self.assertEqual(random.getstate(), before)

    def test_a_batch_is_cut_into_pieces_whatever_holds_it(self):
        self.assertEqual((samples_in([1, 2, 3]), piece_of([1, 2, 3], 1, 3)), (3, [2, 3]))
        if torch is not None:
            pair = (torch.arange(4), {"x": torch.arange(4)})
            self.assertEqual(samples_in(pair), 4)
            self.assertEqual(piece_of(list(pair), 2, 4)[1]["x"].tolist(), [2, 3])

    def test_refuses_what_has_no_order(self):
        for dataset, batch, pattern in (((x for x in "ab"), 1, "dataset: has no length"), ([], 1, "too few"),
                                        ([1], 0, "batch: 0 samples")):
            with self.assertRaisesRegex(orrery.InvalidArgument, pattern):
                orrery.Loader(dataset, batch)

    def test_an_iterable_continues_by_reading_up_to_its_place(self):
        parts = list(AnyIterable("abcd").epoch(0, 2, 0, 1))
        self.assertEqual([part.batch for part in parts], ["c", "d"])


@unittest.skipIf(torch is None, "python3-torch is not installed")
class FromTorch(unittest.TestCase):
    def test_a_data_loader_keeps_its_batch_for_each_process_and_its_collation(self):
        data = torch.utils.data.TensorDataset(torch.arange(50.0))
        loader = of_torch(torch.utils.data.DataLoader(data, 5, shuffle=True), 2, seed=1)
        self.assertEqual((loader.batch, len(loader)), (10, 5))
        batch = next(iter(loader.epoch(0, 0, 1, 2))).batch
        self.assertEqual(batch[0].shape, (5,))
        self.assertEqual(loader.place(0, 1, 2).first, 5)

    def test_workers_draw_what_the_program_itself_would(self):
        torch.manual_seed(3)
        state = torch.get_rng_state()
        loaders = [of_torch(torch.utils.data.DataLoader(Noisy(20), 6, shuffle=True, num_workers=workers), 1, seed=1)
                   for workers in (0, 2)]
        batches = [[[x.tolist() for x in part.batch] for part in loader.epoch(1, 1, 0, 1)] for loader in loaders]
        self.assertEqual(batches[0], batches[1])
        self.assertTrue(torch.equal(torch.get_rng_state(), state))

    def test_refuses_samplers_without_a_place(self):
        data = torch.utils.data.TensorDataset(torch.arange(8.0))
        weighted = torch.utils.data.WeightedRandomSampler([1.0] * 8, 8)
        with self.assertRaisesRegex(orrery.FailedPrecondition, "WeightedRandomSampler.*give orrery.Loader"):
            of_torch(torch.utils.data.DataLoader(data, 2, sampler=weighted), 1, 0)
        batches = torch.utils.data.BatchSampler(weighted, 2, False)
        with self.assertRaisesRegex(orrery.FailedPrecondition, "WeightedRandomSampler|batch_sampler of its own"):
            of_torch(torch.utils.data.DataLoader(data, batch_sampler=batches), 1, 0)


if __name__ == "__main__":
    unittest.main()
