"""The messages and calls of the package are those of proto/ and of docs/formats/api.md."""
import dataclasses
import datetime
import importlib.util
import pathlib
import re
import sys
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "clients" / "python"))
from orrery import errors, messages, wire  # noqa: E402
from orrery.jobspec import JobSpec  # noqa: E402
from orrery.messages import JobRequest, JobStatus, LogsAnswer, StatusAnswer, SubmitRequest, Variable  # noqa: E402
from orrery.table import Table  # noqa: E402

PROTO = "\n".join((ROOT / "proto/orrery/v1" / name).read_text() for name in ("common.proto", "scheduler.proto"))
PROTO = re.sub(r"//.*", "", PROTO)
API = (ROOT / "docs/formats/api.md").read_text()


def proto_fields(name):
    body = re.search(r"^message %s \{(\}|.*?^\})" % name, PROTO, re.M | re.S).group(1)
    body = re.sub(r"enum \w+ \{.*?\}", "", body, flags=re.S)
    return {(found[1], int(found[2]), found[0].strip()) for found in re.findall(r"([\w. ]+?) (\w+) = (\d+);", body)}


class TheMessages(unittest.TestCase):
    def test_have_the_fields_numbers_and_types_of_the_proto_files(self):
        classes = [kind for kind in vars(messages).values()
                   if isinstance(kind, type) and issubclass(kind, wire.Message) and kind is not wire.Message]
        self.assertGreater(len(classes), 15)
        for kind in classes:
            ours = {(field.key, field.number, f"{field.label} {field.kind}".strip()) for field in kind.wire_fields()}
            self.assertEqual(ours, proto_fields(kind.__name__), kind.__name__)

    def test_have_the_states_of_the_proto_file(self):
        body = re.search(r"message JobStatus \{\s*enum State \{(.*?)\}", PROTO, re.S).group(1)
        states = sorted(re.findall(r"(\w+) = (\d+)", body), key=lambda pair: int(pair[1]))
        self.assertEqual(tuple(name for name, _ in states), messages.STATES)

    def test_belong_to_the_calls_of_the_service(self):
        for call in messages.CALLS:
            self.assertRegex(PROTO, r"rpc %s\(%s\) returns \(%s\)" % (
                call.name, call.request.__name__, call.answer.__name__))

    def test_have_the_numbers_of_the_unix_socket(self):
        names = re.search(r"^\| 1 \| 2 \|.*?\n\|[-|]+\|\n\|(.*?)\|\n", API, re.M).group(1).split("|")
        numbers = {name.strip(): i for i, name in enumerate(names, 1)}
        self.assertEqual({call.name: call.number for call in messages.CALLS},
                         {call.name: numbers[call.name] for call in messages.CALLS})

    def test_have_the_methods_and_paths_of_the_page(self):
        for call in messages.CALLS:
            shown = f"{call.method} {call.path}".replace("{id}", "ID")
            self.assertRegex(API, r"`%s`" % re.escape(shown), call.name)

    def test_have_the_errors_of_the_page(self):
        table = {int(number): name for name, number in re.findall(r"^\| `(\w+)` \| (\d+) \|", API, re.M)}
        self.assertEqual(table, {number: kind.code for number, kind in errors.BY_NUMBER.items()})


class TheJob(unittest.TestCase):
    def test_has_the_properties_of_the_job_file(self):
        page = (ROOT / "docs/formats/job-file.md").read_text()
        table = re.search(r"^\| key \|.*?\n\n", page, re.M | re.S).group(0)
        keys = {key.replace("-", "_") for key in re.findall(r"^\| `([\w-]+)`", table, re.M)}
        self.assertEqual({field.name for field in dataclasses.fields(JobSpec)}, keys)

    def test_reads_times_amounts_and_numbers_as_the_command_line_does(self):
        request = JobSpec(["a"], time="1.5h", deadline=datetime.timedelta(days=1), grace=3, memory="1.5GB", cpus=0.25,
                          elastic="2..8", array="1,3,5-9:2", after=[4, 5], signal="TERM", export="NONE",
                          env={"A": 1}).request()
        self.assertEqual((request.expected_ns, request.deadline_ns, request.grace_ns), (5400 * 10**9, 86400 * 10**9, 3 * 10**9))
        self.assertEqual((request.memory_bytes, request.cpu_milli), (1500000000, 250))
        self.assertEqual((request.gpus, request.gpus_min, request.gpus_max), (2, 2, 8))
        self.assertEqual((request.array, request.after), ((1, 3, 5, 7, 9), (4, 5)))
        self.assertEqual((request.signal, request.signal_before_ns), (15, 60 * 10**9))
        self.assertEqual(request.environment, (Variable("A", "1"),))

    def test_names_what_is_wrong(self):
        for given, pattern in (({"time": "-1s"}, "time: '-1s' is no length of time"), ({"memory": 16}, "memory: 16 is no amount"),
                               ({"cpus": 0}, "cpus: 0: write a number"), ({"elastic": "8..2"}, "elastic: '8..2'"),
                               ({"elastic": (1, 2, 3)}, "elastic"), ({"array": "1-"}, "array: '1-'"),
                               ({"array": "0-99999999999"}, "array"), ({"after": 0}, "no job 0"), ({"after": True}, "no job True"),
                               ({"per": "rank"}, "per: 'rank'"), ({"signal": "NOW"}, "signal: 'NOW'"),
                               ({"signal": "USR1@soon"}, "signal: 'soon'"), ({"export": "HOME"}, "export: 'HOME'"),
                               ({"env": {"A=B": 1}}, "env: 'A=B'"), ({"deadline": True}, "deadline: True")):
            with self.assertRaisesRegex(errors.InvalidArgument, pattern):
                JobSpec(["a"], **given).request()


class BothForms(unittest.TestCase):
    FULL = StatusAnswer(12.5, "las", (
        JobStatus(7, "näme", state="Failed", exit_code=-1, nodes=("n1", "n2"), started_s=0.0, stopping=True),
        JobStatus(1 << 40)), 3, -2, 0)

    def test_give_back_what_went_in(self):
        self.assertEqual(StatusAnswer.from_bytes(self.FULL.to_bytes()), self.FULL)
        self.assertEqual(StatusAnswer.from_json(self.FULL.to_json()), self.FULL)
        request = SubmitRequest(JobRequest(("a", "b\udcff"), (Variable("X", ""),), "/", gpus=0, after=(3, 1 << 33),
                                           deadline_ns=0, array=(1, 2, 300)), "key")
        again = SubmitRequest.from_bytes(request.to_bytes())
        self.assertEqual((again.job.after, again.job.array), ((3, 1 << 33), (1, 2, 300)))
        self.assertEqual((again.job.gpus, again.job.deadline_ns, again.job.grace_ns), (0, 0, None))
        self.assertEqual(LogsAnswer.from_json({"bytes": "AAE=", "next": "2"}), LogsAnswer(b"\0\1", 2))

    def test_what_is_usual_is_not_written(self):
        self.assertEqual(StatusAnswer().to_bytes(), b"")
        self.assertEqual(StatusAnswer().to_json(), {})

    def test_fields_of_a_newer_scheduler_are_passed_over(self):
        newer = self.FULL.to_bytes() + b"\xf8\x07\x05" + b"\xfa\x07\x01x" + b"\xf9\x07" + bytes(8)
        self.assertEqual(StatusAnswer.from_bytes(newer), self.FULL)
        self.assertEqual(StatusAnswer.from_json({"new": [1], "policy": "x"}).policy, "x")
        state = JobStatus.from_bytes(b"\x28\x63").state
        self.assertEqual(state, "99")

    def test_any_damage_is_an_error_of_this_package(self):
        whole = self.FULL.to_bytes()
        for size in range(len(whole)):
            for piece in (whole[:size], whole[:size] + b"\xff" * 11, whole[:size] + b"\x13" + whole[size:]):
                try:
                    StatusAnswer.from_bytes(piece)
                except errors.DataLoss:
                    pass
        for bad in ([], {"jobs": 3}, {"jobs": [3]}, {"now_s": "x"}, {"policy": 1}):
            with self.assertRaises(errors.DataLoss):
                StatusAnswer.from_json(bad)

    def test_numbers_that_do_not_fit_are_named(self):
        with self.assertRaisesRegex(errors.InvalidArgument, "gpus: 4294967296 is no whole number of 32 bits"):
            JobRequest(gpus=1 << 32).to_bytes()

    def test_the_bytes_are_those_that_protobuf_writes(self):
        # protoc --encode=orrery.v1.JobStatus of: id: 300 state: Done started_s: 1.5 nodes: "n" progress: 0
        wanted = bytes.fromhex("08ac02" "2803" "62016e" "79000000000000f83f" "a9010000000000000000")
        self.assertEqual(JobStatus(300, state="Done", started_s=1.5, nodes=("n",), progress=0.0).to_bytes(), wanted)


class Tables(unittest.TestCase):
    ROWS = Table([JobStatus(1, "<script>", nodes=("a", "b"), submitted_s=1.8e9), JobStatus(2, state="Done")])

    def test_a_notebook_shows_them_escaped(self):
        shown = self.ROWS._repr_html_()
        self.assertIn("<td>&lt;script&gt;</td>", shown)
        self.assertIn("<td>a, b</td>", shown)
        self.assertIn("2027-01-1", shown)
        self.assertNotIn("promise_missed", shown)  # of no job
        self.assertEqual(Table()._repr_html_(), "<p>none</p>")
        self.assertIn("and 50 more", Table(JobStatus(i + 1) for i in range(250))._repr_html_())

    def test_pandas_gets_every_field(self):
        pandas = types.ModuleType("pandas")
        pandas.DataFrame = lambda rows, columns: (rows, columns)
        with mock.patch.dict(sys.modules, {"pandas": pandas}):
            rows, columns = self.ROWS.to_pandas()
        self.assertEqual(columns, [field.name for field in JobStatus.wire_fields()])
        self.assertEqual((rows[0]["name"], rows[1]["state"]), ("<script>", "Done"))

    def test_without_pandas_it_is_named(self):
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, "needs pandas.*python3-pandas"):
                self.ROWS.to_pandas()

    @unittest.skipIf(importlib.util.find_spec("pandas") is None, "python3-pandas is not installed")
    def test_a_real_data_frame(self):
        frame = self.ROWS.to_pandas()
        self.assertEqual(list(frame["id"]), [1, 2])


if __name__ == "__main__":
    unittest.main()
