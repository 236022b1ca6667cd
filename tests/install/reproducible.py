"""reproducible.py BUILD: does the folder of the sources leave a trace in what is compiled?

Compiles one file, with names of files in its assertions, in two copies of the sources, as BUILD does.
`tools/check_reproducible` compares whole programs.
"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILE = "src/base/random.cc"


class Objects(unittest.TestCase):
    def compiled(self, folder):
        """The object of FILE from a copy of the sources in `folder`."""
        words = next(shlex.split(one["command"]) for one in json.loads((BUILD / "compile_commands.json").read_text())
                     if one["file"] == str(SOURCE / FILE))
        if "ccache" in words[0]:
            words = words[1:]
        shutil.copytree(SOURCE / "src/base", folder / "src/base")
        (folder / "build").mkdir()
        moved = [re.sub(rf"{re.escape(str(BUILD))}(?=[/=]|$)", str(folder / "build"), word) for word in words]
        moved = [re.sub(rf"{re.escape(str(SOURCE))}(?=[/=]|$)", str(folder), word) for word in moved]
        moved[moved.index("-o") + 1] = str(folder / "object.o")
        subprocess.run(moved, cwd=folder / "build", check=True)
        return (folder / "object.o").read_bytes()

    def test_are_the_same_in_every_folder(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.assertEqual(self.compiled(folder / "a"), self.compiled(folder / "a-longer-name"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
