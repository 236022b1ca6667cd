"""A real scheduler with its agent in a folder of its own, for tests. ORRERY_BINARY names the program."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import orrery  # noqa: E402

BINARY = os.environ.get("ORRERY_BINARY", "")
LONG_ENOUGH_S = 300.0
PACKAGE = pathlib.Path(__file__).resolve().parent.parent
ROOT = PACKAGE.parent.parent


@unittest.skipUnless(BINARY, "ORRERY_BINARY names no program; ctest sets it")
class LiveTest(unittest.TestCase):
    options = LOCAL = ("--local", "--gpus", "4", "--name", "n1")

    def setUp(self):
        self.home = tempfile.TemporaryDirectory(prefix="orrery-live")
        self.addCleanup(self.home.cleanup)
        self.folder = pathlib.Path(self.home.name)
        self.state = self.folder / "state"
        self.server = None
        self.addCleanup(self.kill_all)
        self.serve()
        self.client = orrery.Client(self.state)
        self.addCleanup(self.client.close)

    def serve(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ORRERY")}
        with open(self.folder / "serve.log", "a") as log:
            self.server = subprocess.Popen([BINARY, "serve", "--state", str(self.state), *self.options],
                                           stderr=log, env=environment)
        self.wait_for((self.state / "address").exists)

    def stop_server(self, number=signal.SIGKILL):
        self.server.send_signal(number)
        self.server.wait(LONG_ENOUGH_S)

    def kill_all(self):
        """The scheduler, and whatever was started for jobs of this folder."""
        if self.server.poll() is None:
            self.stop_server()
        mark = str(self.folder).encode()
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if int(process.name) != os.getpid() and mark in (process / "cmdline").read_bytes() + (
                        process / "environ").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
            except (OSError, ValueError):
                pass

    def orrery(self, *words, text=None):
        done = subprocess.run([BINARY, *words], input=text, capture_output=True, text=True, timeout=LONG_ENOUGH_S,
                              env={**os.environ, "ORRERY_STATE": str(self.state)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def submit(self, *command, **properties):
        properties = {"time": "1m", "grace": "5s", "dir": str(self.folder), **properties}
        properties["env"] = {"PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
                             **properties.get("env", {})}
        return self.client.submit(list(command), **properties)

    def submit_python(self, script, *words, **properties):
        return self.submit(sys.executable, "-c", script, *words, **properties)

    def wait_for(self, condition, what="it"):
        deadline = time.monotonic() + LONG_ENOUGH_S
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what} took too long")
            time.sleep(0.02)

    def wait_for_progress(self, job, least=0.0):
        def there():
            status = self.client.job(job)
            self.assertFalse(status.final, status)
            return status.state == "Running" and (status.progress or 0) > least
        self.wait_for(there, f"progress of job {job}")

    def wait_for_state(self, job, state):
        def there():
            status = self.client.job(job)
            if status.state == state and not status.stopping:
                return True
            self.assertFalse(status.final, f"{status}\n{self.client.text(job)}")
            return False
        self.wait_for(there, f"job {job} {state}")

    def ends(self, job, state="Done"):
        status = self.client.wait(job, LONG_ENOUGH_S, check=False)[0]
        self.assertEqual(status.state, state, f"{status}\n{self.client.text(job)}")
        return status
