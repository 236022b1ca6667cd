"""orrery.training with torch: alone, and with DistributedDataParallel over Gloo."""
import os
import pathlib
import socket
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
try:
    import torch
except ImportError:
    torch = None

if torch is not None:
    import ddp_program

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipIf(torch is None, "python3-torch is not installed")
class Distributed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="orrery")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def train(self, ranks, name, *arguments, wanted=0):
        """Runs all ranks to their ends; what rank 0 printed."""
        output = self.folder / "output"
        self.errors = self.folder / "output.errors"
        for file in (output, self.errors):
            file.write_text("")
        port = str(free_port())
        children = []
        for rank in range(ranks):
            child = os.fork()  # torch is loaded once, here
            if child == 0:
                for variable in [name for name in os.environ if name.startswith("ORRERY")]:
                    del os.environ[variable]
                os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, WORLD_SIZE=str(ranks), RANK=str(rank),
                                  LOCAL_RANK=str(rank), ORRERY_CHECKPOINT_DIR=str(self.folder / name))
                ddp_program.in_child(arguments, str(output))
            children.append(child)
        for child in children:
            _, status = os.waitpid(child, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), wanted, self.errors.read_text())
        return output.read_text().split()

    def test_a_continued_training_ends_with_the_same_bits_in_the_same_layout(self):
        undisturbed = self.train(2, "a")
        self.assertEqual(self.train(2, "b", "--stop-at", "7"), ["stopped", "7"])
        continued = self.train(2, "b")
        self.assertEqual(continued, undisturbed)
        self.assertEqual(continued[0], "done")

    def test_another_count_of_processes_trains_the_same_global_batches(self):
        undisturbed = self.train(4, "a", "--no-dropout")
        for ranks, stop in ((4, "5"), (2, "9"), (3, "14")):
            self.assertEqual(self.train(ranks, "b", "--no-dropout", "--stop-at", stop), ["stopped", stop])
        continued = self.train(1, "b", "--no-dropout")
        self.assertEqual(continued[:2], undisturbed[:2])
        self.assertAlmostEqual(float.fromhex(continued[2]), float.fromhex(undisturbed[2]), places=5)

    def test_pieces_that_fit_the_gpu_add_up_to_the_batch(self):
        whole = self.train(2, "a", "--no-dropout", "--pieces", "99")
        pieces = self.train(2, "b", "--no-dropout", "--pieces", "2")
        self.assertEqual(pieces[1:3], whole[1:3])
        for column in (0, 3):  # the loss, and the sum of the parameters
            self.assertAlmostEqual(float.fromhex(pieces[column]), float.fromhex(whole[column]), places=5)

    def test_a_full_disk_is_an_error_and_not_the_end_of_the_process(self):
        self.train(2, "a", "--stop-at", "7")
        before = sorted(os.listdir(self.folder / "a"))
        self.train(2, "a", "--file-limit", "5000", wanted=3)
        output = self.errors.read_text()
        self.assertIn("the checkpoint of iteration 8 could not be written (File too large); free space there", output)
        self.assertIn("the checkpoint of iteration 7 stays", output)
        self.assertIn("the checkpoint of iteration 20 could not be written", output)
        self.assertEqual(sorted(os.listdir(self.folder / "a")), before)
        self.train(2, "a")

    def test_several_processes_behind_one_socket_stop_together(self):
        # As torchrun starts them: one process of Orrery's, and RANK for each of its children.
        self.assertEqual(self.train(3, "a", "--sigterm-at", "6", wanted=143), ["stopped", "6"])

    def test_a_folder_that_not_all_see_is_named(self):
        self.train(2, "b", "--stop-at", "7")
        self.train(2, "b", "--hidden-from", "1", wanted=3)


if __name__ == "__main__":
    unittest.main()
