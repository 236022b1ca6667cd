"""Client against the real scheduler, over its Unix socket and over HTTPS."""
import subprocess
import threading
import unittest

import live
import orrery


class OverTheSocket(live.LiveTest):
    options = (*live.LiveTest.LOCAL, "--rest", "127.0.0.1:0")

    def test_a_job_from_its_submission_to_its_end(self):
        job = self.submit("sh", "-c", "echo rank $RANK; echo it fails >&2; exit 3", gpus=2, name="<b>job</b>")
        self.assertEqual(job.ids, (1,))
        self.assertEqual(b"".join(self.client.logs(job, follow=True)), b"rank 0\nit fails\n")
        with self.assertRaisesRegex(orrery.JobFailed, "job 1 Failed: exited with code 3") as failed:
            self.client.wait(job)
        self.assertEqual(failed.exception.jobs[0].exit_code, 3)
        self.assertEqual(self.client.wait(job, check=False)[0].state, "Failed")
        table = self.client.status()
        self.assertEqual((len(table), table[0].name), (1, "<b>job</b>"))
        self.assertIn("<td>&lt;b&gt;job&lt;/b&gt;</td>", table._repr_html_())
        self.assertEqual(self.client.cancel(job), [])

    def test_all_properties_of_a_job_reach_the_scheduler(self):
        out = self.folder / "out"
        job = self.submit("sh", "-c", 'echo "$A $ORRERY_ARRAY_INDEX"; pwd', gpus=1, gpu_type="", elastic="1..2", cpus=0.5,
                          memory="100M", time_limit="5m", signal="USR1@10s", deadline="1h", soft=True, priority=-1,
                          array="3-4", retries=1, per="gpu", node_timeout="never", output=f"{out}-%a",
                          checkpoint_dir=str(self.folder / "c"), env={"A": 5})
        self.assertEqual(job.count, 2)
        self.client.wait(job)
        self.assertEqual((self.folder / "out-4").read_text(), f"5 4\n{self.folder}\n")
        status = self.client.status(job.ids[:1])[0]
        self.assertEqual((status.cpu_milli, status.memory_bytes, status.priority), (500, 100 << 20, -1))

    def test_cancel_nodes_events_and_whatif(self):
        first = self.submit("sleep", "300", gpus=4, time="30m", name="long")
        second = self.submit("sleep", "1", gpus=1, after=first)
        self.wait_for(lambda: self.client.job(first).state == "Running")
        (node,) = self.client.nodes()
        self.assertEqual((node.name, node.gpus, node.gpus_free, node.jobs), ("n1", 4, 0, (1,)))
        forecast = self.client.whatif({"gpus": 4, "time": "10m"})
        self.assertIn("would start in", str(forecast))
        self.assertGreater(forecast.fields["variants"][0]["start_in_s"], 60)
        with self.assertRaisesRegex(orrery.DeadlineExceeded, "job 2 has not ended within 0.3 s"):
            self.client.wait(second, 0.3)
        self.assertEqual(self.client.cancel([1, 2]), [1], "job 2 ends with the job that it needs")
        self.client.wait([1, 2], check=False)
        kinds = [event.fields["event"] for event in self.client.events()]
        self.assertIn("cancel", " ".join(kinds))
        last = list(self.client.events(-2))
        self.assertEqual(len(last), 2)
        numbers = [event.fields["seq"] for event in last]
        followed = self.client.events(numbers[0], follow=True, timeout=0.2)
        self.assertEqual([event.fields["seq"] for event in followed][:2], numbers)

    def test_errors_are_typed_and_say_what_to_do(self):
        for call, kind, pattern in (
                (lambda: self.client.job(9), orrery.NotFound, "there is no job 9"),
                (lambda: self.client.status(0), orrery.InvalidArgument, "numbered from 1"),
                (lambda: next(self.client.logs(9)), orrery.NotFound, "no job 9"),
                (lambda: self.client.submit("ls -l"), orrery.InvalidArgument, "as a list"),
                (lambda: self.client.submit([]), orrery.InvalidArgument, "program|command"),
                (lambda: self.submit("x", gpus=-1), orrery.InvalidArgument, "GPU|gpus"),
                (lambda: self.submit("x", memory="lots"), orrery.InvalidArgument, "memory: 'lots' is no amount"),
                (lambda: self.client.whatif(policy="best"), orrery.Error, "best"),
                (lambda: self.client.submit(["x"], gpu=1), TypeError, "gpu"),
                (lambda: orrery.Client(self.folder / "none"), orrery.InvalidArgument, "no such state directory"),
                (lambda: orrery.Client(server="here"), orrery.InvalidArgument, "write HOST:PORT"),
                (lambda: orrery.Client(server="h:1", credentials=self.folder), orrery.InvalidArgument,
                 "no credentials; get a token.*orrery join --server h:1")):
            with self.assertRaisesRegex(kind, pattern):
                call()

    def test_a_restart_of_the_scheduler_is_not_seen(self):
        job = self.submit("sh", "-c", "echo begin; while [ ! -e go ]; do sleep 0.05; done; echo end")
        heard, done = [], []
        follower, other = orrery.Client(self.state), orrery.Client(self.state)
        self.addCleanup(follower.close)
        self.addCleanup(other.close)
        logs = threading.Thread(target=lambda: heard.extend(follower.logs(job, follow=True)))
        waits = threading.Thread(target=lambda: done.extend(other.wait(job)))
        logs.start()
        waits.start()
        self.wait_for(lambda: heard)
        self.stop_server()
        restart = threading.Timer(0.5, self.serve)
        restart.start()
        self.assertEqual(self.client.job(job).id, 1)
        restart.join()
        (self.folder / "go").touch()
        waits.join(live.LONG_ENOUGH_S)
        logs.join(live.LONG_ENOUGH_S)
        self.assertEqual([one.state for one in done], ["Done"])
        self.assertEqual(b"".join(heard), b"begin\nend\n")

    def test_without_a_scheduler_a_call_ends_in_time(self):
        self.stop_server()
        with orrery.Client(self.state, patience=0.3) as client:
            with self.assertRaisesRegex(orrery.Unavailable, "socket: the scheduler does not answer.*orrery serve"):
                client.nodes()

    def join(self):
        """HOST:PORT of the scheduler, and a folder with the credentials of ann."""
        address = (self.state / "address").read_text().strip()
        keys = self.folder / "keys"
        token = self.orrery("token", "--role", "user", "--name", "ann")
        self.orrery("join", "--server", address, "--name", "ann", "--credentials", str(keys), text=token)
        return address, keys

    def test_over_https_with_the_certificate_of_join(self):
        address, keys = self.join()
        job = self.submit("sh", "-c", "echo hidden; sleep 300", gpus=2)
        with orrery.Client(server=address, credentials=keys) as client:
            self.assertIn("https://127.0.0.1:", repr(client))
            self.assertEqual((client.nodes()[0].name, client.nodes()[0].gpus), ("n1", 4))
            own = client.submit(["true"], after=job, time="1m", dir="/", env={"NAME": "ö"})
            self.assertEqual([status.id for status in client.status(own)], [2])
            self.assertEqual(client.status(own)[0].user, "ann")
            self.assertEqual(client.cancel(own), [2])
            with self.assertRaisesRegex(orrery.JobFailed, "job 2 Cancelled"):
                client.wait(own, live.LONG_ENOUGH_S)
            with self.assertRaisesRegex(orrery.FailedPrecondition, "job 2 has no output: it has not started"):
                list(client.logs(own))
            with self.assertRaises((orrery.PermissionDenied, orrery.NotFound)):
                client.cancel(job)
            with self.assertRaisesRegex(orrery.NotFound, "there is no job 99"):
                client.job(99)
            self.assertIn("would start", str(client.whatif({"gpus": 1, "time": 60})))
            seen = [event.fields["event"] for event in client.events()]
            self.assertIn("submit", " ".join(seen))

    def test_the_output_of_a_job_comes_over_https_too(self):
        address, _ = self.join()
        job = self.submit("sh", "-c", "printf 'a\\377b'; sleep 0.2; echo c")
        trust = self.state / "trust"  # the owner's
        for suffix in ("pem", "key"):
            (trust / f"client.{suffix}").write_bytes((trust / f"admin.{suffix}").read_bytes())
            (trust / f"client.{suffix}").chmod(0o600)
        with orrery.Client(server=address, credentials=trust) as client:
            self.assertEqual(b"".join(client.logs(job, follow=True)), b"a\xffbc\n")

    def test_credentials_that_cannot_be_used_are_named(self):
        address, keys = self.join()
        for spoil, kind, pattern in (
                (lambda: (keys / "client.key").chmod(0o644), orrery.FailedPrecondition,
                 "client.key: other logins can read this key; chmod 600"),
                (lambda: ((keys / "client.key").chmod(0o600), (keys / "client.pem").write_text("none")),
                 orrery.FailedPrecondition, "credentials cannot be used .*join again"),
                (lambda: (keys / "client.pem").unlink(), orrery.PermissionDenied, "client.pem: cannot be read")):
            spoil()
            with self.assertRaisesRegex(kind, pattern):
                orrery.Client(server=address, credentials=keys, patience=0).nodes()

    def test_a_scheduler_of_another_authority_is_refused(self):
        address, keys = self.join()
        other = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                                "-subj", "/CN=other", "-keyout", "/dev/null"], capture_output=True, text=True)
        (keys / "ca.pem").write_text(other.stdout)
        with self.assertRaisesRegex(orrery.Unauthenticated, "the scheduler's certificate"):
            orrery.Client(server=address, credentials=keys, patience=0).nodes()


if __name__ == "__main__":
    unittest.main()
