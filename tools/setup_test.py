"""tools/setup against a made-up system: stand-ins for apt-get, dpkg-query, id and sudo note each call."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent
COREUTILS = ("awk", "cat", "cksum", "dirname", "env", "mkdir", "sleep", "tail", "true")

NOTE = 'echo "${0##*/} $*" >>"$STATE/calls"\n'
DPKG_QUERY = NOTE + """
for package; do :; done
if grep -qx "$package" "$STATE/installed"; then printf installed; else exit 1; fi
"""
APT_GET = NOTE + """
case " $* " in *" install "*) ;; *) exit 0 ;; esac
if [ -s "$STATE/failures" ]; then
  read -r left <"$STATE/failures"
  [ "$left" -le 1 ] && : >"$STATE/failures" || echo $((left - 1)) >"$STATE/failures"
  echo "E: Unable to fetch some archives"
  exit 100
fi
for word; do echo "$word"; done >>"$STATE/installed"
"""
SUDO_YES = NOTE + '[ "$1" = -n ] && shift\nexec "$@"\n'
SUDO_ASKS = NOTE + "exit 1\n"


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.bin = self.root / "bin"
        self.state = self.root / "state"
        for path in (self.bin, self.state, self.root / "tree" / "tools"):
            path.mkdir(parents=True)
        shutil.copy(TOOLS / "setup", self.root / "tree" / "tools")
        self.list("[build]\ng++\ncmake\n\n# words\n[test]\nlibgtest-dev\n")
        (self.state / "installed").write_text("cmake\n")
        for name in (*COREUTILS, "grep"):
            (self.bin / name).symlink_to(shutil.which(name))
        self.program("dpkg-query", DPKG_QUERY)
        self.program("apt-get", APT_GET)
        self.user(0)

    def list(self, text):
        (self.root / "tree" / "tools" / "packages.txt").write_text(text)

    def program(self, name, text):
        path = self.bin / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def user(self, number):
        self.program("id", f"echo {number}\n")

    def call(self, *sections, **environment):
        (self.state / "calls").write_text("")
        done = subprocess.run(
            ["/bin/sh", "tools/setup", *sections],
            cwd=self.root / "tree",
            env={"PATH": str(self.bin), "STATE": str(self.state), "SETUP_PAUSE": "0", **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        self.calls = (self.state / "calls").read_text()
        return done

    def test_root_gets_what_is_missing_and_nothing_else(self):
        done = self.call("build", "test")
        self.assertEqual(done.returncode, 0, done.stderr)
        installs = [line for line in self.calls.splitlines() if " install " in line]
        self.assertEqual(len(installs), 1, self.calls)
        self.assertTrue(installs[0].endswith("install --no-install-recommends g++ libgtest-dev"))
        self.assertNotIn("sudo", self.calls)

    def test_the_second_call_asks_neither_apt_nor_dpkg(self):
        self.call("build", "test")
        done = self.call("build", "test")
        self.assertEqual((done.returncode, self.calls, done.stdout), (0, "", ""))

    def test_a_section_asked_for_later_is_the_only_one_looked_at(self):
        self.call("build")
        self.call("build", "test")
        self.assertNotIn("g++", self.calls)
        self.assertIn("libgtest-dev", self.calls)

    def test_a_changed_list_is_looked_at_again(self):
        self.call("build")
        self.list("[build]\ng++\ncmake\nninja-build\n[test]\n")
        self.call("build")
        self.assertIn("install --no-install-recommends ninja-build", self.calls)

    def test_apt_is_left_alone_when_nothing_is_missing(self):
        (self.state / "installed").write_text("cmake\ng++\n")
        self.assertEqual(self.call("build").returncode, 0)
        self.assertNotIn("apt-get", self.calls)

    def test_another_user_installs_through_sudo(self):
        self.user(1000)
        self.program("sudo", SUDO_YES)
        self.assertEqual(self.call("build").returncode, 0)
        self.assertIn("sudo env DEBIAN_FRONTEND=noninteractive apt-get", self.calls)

    def test_without_root_the_command_to_run_is_named(self):
        self.user(1000)
        for sudo in (None, SUDO_ASKS):
            with self.subTest(sudo):
                if sudo:
                    self.program("sudo", sudo)
                done = self.call("build", "test")
                self.assertEqual(done.returncode, 2)
                self.assertIn("apt-get update && apt-get install", done.stderr)
                self.assertIn("g++ libgtest-dev", done.stderr)
                self.assertNotIn("cmake", done.stderr)
                self.assertNotIn("apt-get", self.calls)

    def test_one_failure_is_tried_again(self):
        (self.state / "failures").write_text("1\n")
        done = self.call("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls.count(" update"), 2)

    def test_two_failures_show_what_apt_said_and_leave_no_stamp(self):
        (self.state / "failures").write_text("2\n")
        done = self.call("build")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Unable to fetch", done.stderr)
        self.assertIn("could not install: g++", done.stderr)
        self.call("build")
        self.assertIn("apt-get", self.calls)

    def test_a_system_without_apt_sees_the_names(self):
        (self.bin / "apt-get").unlink()
        done = self.call("build")
        self.assertEqual(done.returncode, 2)
        self.assertIn("g++ cmake", done.stderr)
        self.assertIn("SETUP=no", done.stderr)
        self.assertEqual(self.call("build", SETUP="no").returncode, 0)

    def test_an_optional_section_that_apt_lacks_is_left_out_as_a_whole(self):
        self.list("[build]\ng++\n[train] optional\nlibboost-dev\nlibtorch-dev\n")
        (self.state / "installed").write_text("")
        for known in (True, False):  # apt knows what it lacks before its lists are read, or after
            with self.subTest(known=known):
                lists = self.state / "lists"
                lists.unlink(missing_ok=True)
                if known:
                    lists.touch()
                shutil.rmtree(self.root / "tree" / "build", ignore_errors=True)
                (self.state / "installed").write_text("")
                self.program("apt-get", ': >"$STATE/lists"\n' + APT_GET)
                self.program("apt-cache", '[ -e "$STATE/lists" ] && [ "$2" != libtorch-dev ]\n')
                done = self.call("build", "train")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("left out, as apt has no libtorch-dev here: [train]", done.stdout)
                self.assertIn("install --no-install-recommends g++\n", self.calls)
                self.assertNotIn("libboost", self.calls.split(" install ")[1])
                done = self.call("build", "train")
                self.assertEqual((done.returncode, self.calls, done.stdout), (0, "", ""))

    def test_an_optional_section_that_apt_has_is_installed(self):
        self.list("[build]\ncmake\n[train] optional\nlibtorch-dev\n")
        self.program("apt-cache", "true\n")
        done = self.call("build", "train")
        self.assertIn("install --no-install-recommends libtorch-dev", self.calls, done.stderr)

    def test_an_unknown_section_is_refused(self):
        done = self.call("biuld")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no section [biuld]", done.stderr)


if __name__ == "__main__":
    unittest.main()
