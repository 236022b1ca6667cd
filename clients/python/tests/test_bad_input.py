"""Programs that break the job protocol, against the real agent: refused by name, and alone."""
import os
import pwd
import sys
import unittest

import live
import orrery

UNPRIVILEGED = pwd.getpwuid(65534).pw_name

# Connects, says the lines of argv, and prints what the agent says until it hangs up.
HOSTILE = """
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(os.environ.get("VICTIM") or os.environ["ORRERY_SOCKET"])
except OSError as fault:
    print("connect:", fault.strerror)
    raise SystemExit
times = int(os.environ.get("TIMES", 1))
hello = '{"kind":"hello","version":1,"rank":%s}\\n' % os.environ.get("AS_RANK", "0")
try:
    s.sendall(hello.encode() + times * "".join(line + "\\n" for line in sys.argv[1:]).encode())
except OSError:
    pass
s.settimeout(20)
try:
    while True:
        piece = s.recv(4096)
        if not piece:
            break
        sys.stdout.write(piece.decode())
except OSError as fault:
    print("recv:", fault)
print("over", flush=True)
"""

HONEST = """
import orrery.job, os, time
with orrery.job.connect() as job:
    for step in job.steps(range(100000)):
        time.sleep(0.01)
        if os.path.exists("enough"):
            break
    print("stopped" if job.stopping else "ended", job.error)
"""


class BadInput(live.LiveTest):
    def setUp(self):
        super().setUp()
        self.victim = self.submit_python(HONEST, gpus=1)
        self.wait_for_progress(self.victim)

    def refused(self, *lines, **properties):
        """What the agent says to a hostile program; the other job goes on undisturbed and can still agree."""
        hostile = self.submit_python(HOSTILE, *lines, gpus=1, **properties)
        self.ends(hostile)
        said = self.client.text(hostile)
        self.undisturbed()
        return said

    def undisturbed(self):
        before = self.client.job(self.victim)
        self.assertEqual((before.state, before.failures), ("Running", 0))
        (self.folder / "enough").touch()
        self.ends(self.victim)
        self.assertEqual(self.client.text(self.victim), "ended None\n")
        self.assertEqual(self.client.nodes()[0].state, "up")

    def test_progress_beyond_its_own_end_is_named(self):
        self.assertIn("progress: iteration 12 is beyond the 10 in all", self.refused(
            '{"kind":"progress","iteration":12,"of":10}'))

    def test_progress_that_no_program_can_have_made_is_named(self):
        self.assertIn('progress: \\"iteration\\" must be a whole number', self.refused(
            '{"kind":"progress","iteration":1e300,"of":10}'))

    def test_nan_is_named(self):
        self.assertIn("not JSON, from byte", self.refused('{"kind":"progress","iteration":1,"loss":NaN}'))

    def test_a_flood_ends_at_its_socket(self):
        said = self.refused('{"kind":"progress","iteration":1}', env={"TIMES": 5000})
        self.assertIn("more than 100 messages a second; this job is not heard any more", said)

    def test_of_two_connections_the_first_hears_why_it_ends(self):
        script = ("import orrery.job, os, sys, threading, time\n"
                  "first = orrery.job.connect()\n"
                  "while not first.connected: time.sleep(0.01)\n"
                  "second = orrery.job.connect()\n"
                  "while first.error is None: time.sleep(0.01)\n"
                  "second.progress(5, 5)\n"
                  "print(first.error, second.connected)\n"
                  "first.close(); second.close(finished=True)\n")
        job = self.submit_python(script, gpus=1)
        self.ends(job)
        self.assertEqual(self.client.text(job), "another connection of this job took its place True\n")
        self.undisturbed()

    def test_another_rank_of_another_job_is_refused(self):
        victim = self.state / "agent" / "sockets"
        paths = [path for path in (self.state / "agent").rglob("*") if path.is_socket() and path.name.startswith("1.")]
        self.assertEqual(len(paths), 1, victim)
        said = self.refused('{"kind":"bye","finished":true}', env={"VICTIM": paths[0], "AS_RANK": 3})
        self.assertIn("this is the socket of rank 0, not of rank 3", said)

    @unittest.skipIf(os.geteuid() != 0, "needs root: jobs of two users")
    def test_another_users_job_cannot_reach_the_socket(self):
        self.folder.chmod(0o755)
        (path,) = [path for path in (self.state / "agent").rglob("*") if path.is_socket() and path.name.startswith("1.")]
        said = self.refused('{"kind":"bye","finished":true}', env={"VICTIM": path}, user=UNPRIVILEGED, dir="/")
        self.assertEqual(said, "connect: Permission denied\n")

    def test_garbage_is_named(self):
        self.assertIn("not JSON", self.refused("\x7f\x01{{{"))

    def test_what_the_client_sends_wrongly_ends_nothing_but_its_connection(self):
        import socket
        import struct
        path = str(self.state / "socket")
        for piece in (struct.pack("<IB", 0, 0), struct.pack("<IB", 1 << 31, 2), struct.pack("<IB", 1, 77),
                      struct.pack("<IB", 5, 2) + b"\xff\xff\xff\xff"):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(live.LONG_ENOUGH_S)
                connection.connect(path)
                connection.sendall(piece)
                size, code = struct.unpack("<IB", connection.recv(5))
                self.assertIn(code, orrery.errors.BY_NUMBER)
                self.assertGreater(size, 1)
        self.undisturbed()


if __name__ == "__main__":
    unittest.main()
