"""The package as it is installed: without a network, without torch, type-checked."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parent.parent


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, **options)


class ThePackage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="orrery")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @unittest.skipUnless(hasattr(sys, "stdlib_module_names"), "Python 3.10 or later has the list")
    def test_imports_the_standard_library_and_nothing_else(self):
        script = ("import sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules); import orrery, orrery_job\n"
                  "assert orrery_job is orrery.job\n"
                  "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}"
                  " - set(sys.stdlib_module_names)))")
        done = run(sys.executable, "-B", "-c", script, str(PACKAGE))
        self.assertEqual((done.stdout, done.stderr), ("orrery orrery_job\n", ""))

    def test_the_module_of_jobs_works_alone(self):
        shutil.copy(PACKAGE / "orrery" / "job.py", self.folder / "orrery_job.py")
        done = run(sys.executable, "-B", "-c", "import orrery_job\nwith orrery_job.connect() as job: print(*job.steps('ab'))",
                   cwd=self.folder)
        self.assertEqual((done.stdout, done.stderr), ("a b\n", ""))

    @unittest.skipIf(importlib.util.find_spec("pip") is None or importlib.util.find_spec("wheel") is None,
                     "python3-pip is not installed")
    def test_installs_from_the_tree_without_a_network(self):
        tree = self.folder / "tree"  # setuptools writes beside its sources
        shutil.copytree(PACKAGE, tree, ignore=shutil.ignore_patterns("tests", "build", "*.egg-info"))
        target = self.folder / "site"
        done = run(sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--target", str(target),
                   str(tree), env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((target / "orrery" / "py.typed").exists())
        modules = {path.name for path in (PACKAGE / "orrery").glob("*.py")}
        self.assertEqual({path.name for path in (target / "orrery").glob("*.py")}, modules)
        done = run(sys.executable, "-c", "import orrery, orrery_job; print(orrery.__file__)", cwd=self.folder,
                   env={**os.environ, "PYTHONPATH": str(target)})
        self.assertEqual(done.stdout.strip(), str(target / "orrery" / "__init__.py"))

    def test_every_public_name_is_there(self):
        done = run(sys.executable, "-B", "-c", "import sys; sys.path.insert(0, sys.argv[1]); import orrery\n"
                   "print([name for name in orrery.__all__ if not hasattr(orrery, name)], orrery.__version__)", str(PACKAGE))
        version = next(line.split('"')[1] for line in (PACKAGE / "pyproject.toml").read_text().splitlines()
                       if line.startswith("version"))
        self.assertEqual(done.stdout, f"[] {version}\n")


if __name__ == "__main__":
    unittest.main()
