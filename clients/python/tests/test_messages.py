"""The messages and calls of the package are those of proto/ and of docs/formats/api.md."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "clients" / "python"))
from orrery import errors, messages, wire  # noqa: E402
from orrery.messages import Call, JobRequest, JobStatus, LogsAnswer, StatusAnswer, SubmitRequest, Variable  # noqa: E402

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


if __name__ == "__main__":
    unittest.main()
