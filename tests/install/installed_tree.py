"""installed_tree.py CMAKE BUILD [TRAIN]: does what `cmake --install` lays down work from there?

CMAKE is the program cmake, BUILD the build folder; with TRAIN orrery-train is installed too.
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD = sys.argv[1:3]
PARTS = ["core", "server", "agent"] + (["train"] if "train" in sys.argv[3:] else [])
SOURCE = pathlib.Path(__file__).resolve().parents[2]


def call(*words, **more):
    return subprocess.run([str(word) for word in words], text=True, capture_output=True, timeout=60, **more)


def install(prefix, parts, destdir=""):
    for part in parts:
        done = call(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", part, "--strip",
                    env=os.environ | ({"DESTDIR": str(destdir)} if destdir else {}))
        assert done.returncode == 0, done.stdout + done.stderr


class Tree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        install(cls.folder / "first", PARTS)
        cls.prefix = cls.folder / "moved"
        (cls.folder / "first").rename(cls.prefix)
        cls.programs = ["orrery"] + (["orrery-train"] if "train" in PARTS else [])

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def program(self, name):
        return self.prefix / "bin" / name

    def orrery(self, *words):
        return call(self.program("orrery"), *words)


class Programs(Tree):
    def test_find_each_other_after_the_tree_has_been_moved(self):
        self.assertFalse((self.prefix / "bin/orrery-whole").exists())
        done = self.orrery("policies", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("muri-l", done.stdout)

    def test_say_what_is_missing(self):
        whole = self.prefix / "libexec/orrery/orrery-whole"
        whole.rename(whole.with_suffix(".away"))
        try:
            done = self.orrery("policies")
        finally:
            whole.with_suffix(".away").rename(whole)
        self.assertEqual(done.returncode, 1)
        self.assertIn("libexec/orrery", done.stderr)

    def test_name_their_version_and_commit(self):
        for name in self.programs:
            self.assertRegex(call(self.program(name), "--version").stdout,
                             rf"^{name} \d+\.\d+\.\d+ \(commit (unknown|[0-9a-f]{{12}}(, changed)?)\)\n$")

    def test_run_a_job_under_the_supervisor_of_the_tree(self):
        state = self.folder / "state"
        scheduler = subprocess.Popen([self.program("orrery"), "serve", "--local", "--gpus", "1", "--state", state],
                                     stderr=subprocess.PIPE, text=True)
        try:
            for line in scheduler.stderr:
                if "serves on" in line:
                    break
            # The program of the process above the job.
            done = self.orrery("submit", "--state", state, "--gpus", "1", "--wait", "--time", "1m", "--",
                               "sh", "-c", "readlink /proc/$PPID/exe")
            self.assertEqual(done.returncode, 0, done.stderr)
            logs = self.orrery("logs", "--state", state, "1")
            self.assertEqual(logs.stdout.strip(), str(self.prefix / "libexec/orrery/orrery-job"))
        finally:
            scheduler.terminate()
            scheduler.communicate(timeout=60)


def help_of(program, command):
    """The options, and the commands below, of a command as its help lists them."""
    text = call(program, *command, "--help").stdout
    heads = re.findall(r"^  (\S+)", text, re.MULTILINE)
    # A flag that turns something off stands there as --no-x{false}.
    options = [name.partition("{")[0] for head in heads if head.startswith("-") for name in head.split(",")]
    _, _, below = text.partition("\nSubcommands:\n")
    return options, re.findall(r"^  (\w\S*)", below, re.MULTILINE)


def walk(program, command=()):
    options, below = help_of(program, command)
    yield command, options
    for name in below:
        yield from walk(program, (*command, name))


class Descriptions(Tree):
    """CLI11's own help, command by command, against pages and completion."""

    def setUp(self):
        self.commands = {name: list(walk(self.program(name))) for name in self.programs}
        self.assertGreater(len(self.commands["orrery"]), 40)

    def page(self, name, command):
        path = self.prefix / "share/man/man1" / ("-".join((name, *command[:1])) + ".1.gz")
        return gzip.decompress(path.read_bytes()).decode().replace("\\-", "-")

    def test_every_command_and_option_is_in_its_man_page(self):
        for name, commands in self.commands.items():
            for command, options in commands:
                page = self.page(name, command)
                if len(command) > 1:  # a section of its own
                    page = page.partition(f'.SH "{name} {" ".join(command)}"\n')[2].partition("\n.SH ")[0]
                for option in options:
                    self.assertIn(f"\\fB{option}\\fR", page, (name, command))

    def test_every_page_is_sound_roff(self):
        if not shutil.which("groff"):
            self.skipTest("no groff here")
        for page in (self.prefix / "share/man/man1").iterdir():
            done = call("groff", "-man", "-ww", "-z", "-Tutf8", input=gzip.decompress(page.read_bytes()).decode())
            self.assertEqual(done.stderr, "", page.name)

    def bash(self, name, *words):
        """What bash offers for the last of these words."""
        script = f"""
            source {self.prefix}/share/bash-completion/completions/{name}
            compopt() {{ :; }}
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            {"_" + name.replace("-", "_")}
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        done = call("bash", "-uec", script, "bash", name, *words)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_offers_every_command_and_option(self):
        for name, commands in self.commands.items():
            for command, options in commands:
                if command:
                    self.assertIn(command[-1], self.bash(name, *command[:-1], ""))
                self.assertLessEqual(set(options), set(self.bash(name, *command, "-")), (name, command))

    def test_bash_offers_what_has_begun(self):
        self.assertEqual(self.bash("orrery", "simulate", "--semantics", "muri", "--trace-f"), ["--trace-format"])
        self.assertEqual(self.bash("orrery", "simulate", "--trace", "--clu"), [], "a value, so a file")
        self.assertEqual(self.bash("orrery", "submit", "--", "ls", "--"), [], "the options of another program")
        self.assertEqual(self.bash("orrery", "help", "simul"), ["simulate"])

    def test_zsh_and_fish_know_every_command_and_option(self):
        for name, commands in self.commands.items():
            zsh = (self.prefix / f"share/zsh/site-functions/_{name}").read_text()
            fish = (self.prefix / f"share/fish/vendor_completions.d/{name}.fish").read_text()
            for command, options in commands:
                full = " ".join((name, *command))
                part = zsh.partition(f"  '{full}')\n")[2].partition(";;")[0]
                rules = "".join(line for line in fish.splitlines(True) if f'"{full}"\' ' in line)
                for option in options:
                    self.assertIn(f"'{option}:", part, full)
                    short = "-l " + option[2:] if option.startswith("--") else "-s " + option[1:]
                    self.assertIn(f" {short} ", rules, full)

    def test_shells_read_their_scripts(self):
        for shell, path in (("bash", "bash-completion/completions/{}"), ("zsh", "zsh/site-functions/_{}"),
                            ("fish", "fish/vendor_completions.d/{}.fish")):
            if shutil.which(shell):
                for name in self.programs:
                    done = call(shell, "-n", self.prefix / "share" / path.format(name))
                    self.assertEqual((done.returncode, done.stderr), (0, ""))


class Places(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def test_below_usr_configuration_is_in_etc(self):
        install("/usr", ["server", "agent"], self.folder)
        unit = (self.folder / "usr/lib/systemd/system/orrery-server.service").read_text()
        self.assertIn("\nExecStart=/usr/bin/orrery serve --state /var/lib/orrery $ORRERY_SERVER_OPTIONS\n", unit)
        self.assertIn("\nEnvironmentFile=-/etc/default/orrery-server\n", unit)
        self.assertTrue((self.folder / "etc/default/orrery-agent").exists())

    def test_elsewhere_all_is_below_the_prefix(self):
        install(self.folder, ["server", "agent"])
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"etc", "lib", "share"})
        unit = (self.folder / "lib/systemd/system/orrery-agent.service").read_text()
        self.assertIn(f"\nExecStart={self.folder}/bin/orrery agent ", unit)
        self.assertIn(f"\nEnvironmentFile=-{self.folder}/etc/default/orrery-agent\n", unit)
        self.assertNotRegex(unit, r"@\w+@")

    def test_configuration_that_is_there_is_kept(self):
        path = self.folder / "etc/default/orrery-server"
        path.parent.mkdir(parents=True)
        path.write_text("mine\n")
        install(self.folder, ["server"])
        self.assertEqual(path.read_text(), "mine\n")

    def test_units_name_options_that_there_are(self):
        install(self.folder, ["core", "server", "agent"])
        for unit in (self.folder / "lib/systemd/system").iterdir():
            for line in re.findall(r"^ExecStart=\S+/orrery (\w+) (.*)$", unit.read_text(), re.MULTILINE):
                options, _ = help_of(self.folder / "bin/orrery", [line[0]])
                for word in line[1].split():
                    if word.startswith("-"):
                        self.assertIn(word, options, unit.name)

    def test_every_agent_unit_keeps_jobs_over_a_restart(self):
        install(self.folder, ["agent"])
        unit = (self.folder / "lib/systemd/system/orrery-agent.service").read_text()
        for line in ("KillMode=process", "Delegate=yes", "Type=notify", "Requires=orrery-jobs.service"):
            self.assertIn(f"\n{line}\n", unit)


class Version(unittest.TestCase):
    """cmake/version.cmake, in checkouts that are made here."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.git("init", "-q")
        (self.folder / "file").write_text("one\n")
        self.git("add", "file")
        self.git("commit", "-qm", "one")
        self.commit = self.git("rev-parse", "--short=12", "HEAD")

    def git(self, *words):
        done = call("git", "-C", self.folder, "-c", "user.name=ann", "-c", "user.email=ann@localhost", *words,
                    env=os.environ | {"GIT_COMMITTER_DATE": "2026-01-02T03:04:05+0100"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def source(self, folder=None):
        """The generated file, and when it was written."""
        output = self.folder / ".git/version.cc"
        done = call(CMAKE, f"-DSOURCE={folder or self.folder}", "-DVERSION=1.2.3", f"-DOUTPUT={output}", "-P",
                    SOURCE / "cmake/version.cmake")
        self.assertEqual(done.returncode, 0, done.stderr)
        return output.read_text(), output.stat().st_mtime_ns

    def package_version(self, **environment):
        script = self.folder / ".git/print.cmake"
        script.write_text(f'include({SOURCE}/cmake/version.cmake)\n'
                          f'find_package_version({self.folder} 1.2.3 version date)\nmessage("${{version}}")\n')
        return call(CMAKE, "-P", script, env=os.environ | environment).stderr.strip()

    def test_a_checkout_names_its_commit(self):
        self.assertIn(f'" 1.2.3 (commit {self.commit})"', self.source()[0])
        (self.folder / "file").write_text("two\n")
        self.assertIn(f'" 1.2.3 (commit {self.commit}, changed)"', self.source()[0])

    def test_the_source_is_written_only_when_it_changes(self):
        self.assertEqual(self.source(), self.source())

    def test_a_tarball_says_unknown_also_inside_another_checkout(self):
        tarball = self.folder / "unpacked"
        tarball.mkdir()
        self.assertIn('" 1.2.3 (commit unknown)"', self.source(tarball)[0])

    def test_packages_between_releases_are_earlier_than_the_next(self):
        self.assertEqual(self.package_version(), f"1.2.3~git20260102020405.{self.commit}")
        self.git("tag", "-am", "release", "v1.2.3")
        self.assertEqual(self.package_version(), "1.2.3")
        self.assertEqual(self.package_version(ORRERY_PACKAGE_VERSION="9"), "9")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
