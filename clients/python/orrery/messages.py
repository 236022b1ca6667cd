"""The scheduler's messages that Client uses. tests/test_messages.py compares them with proto/.

Times are seconds since 1970 (..._s), durations nanoseconds (..._ns); docs/formats/api.md.
"""
import dataclasses
from typing import Generic, Optional, Tuple, Type, TypeVar

from .wire import Message, enum, wire

STATES = ("Pending", "Running", "Paused", "Done", "Failed", "Rejected", "Cancelled")
FINAL = ("Done", "Failed", "Rejected", "Cancelled")


@dataclasses.dataclass(frozen=True)
class Nothing(Message):
    pass


@dataclasses.dataclass(frozen=True)
class Variable(Message):
    name: str = wire(1, "string")
    value: str = wire(2, "string")


@dataclasses.dataclass(frozen=True)
class JobRequest(Message):
    argv: Tuple[str, ...] = wire(1, "repeated string")
    environment: Tuple[Variable, ...] = wire(2, "repeated Variable")
    directory: Optional[str] = wire(3, "optional string")
    name: str = wire(4, "string")
    user: str = wire(5, "string")
    tenant: str = wire(6, "string")
    gpus: Optional[int] = wire(7, "optional int32")
    gpus_min: int = wire(8, "int32")
    gpus_max: int = wire(9, "int32")
    cpu_milli: int = wire(10, "int64")
    memory_bytes: int = wire(11, "int64")
    gpu_type: str = wire(12, "string")
    model: str = wire(13, "string")
    expected_ns: int = wire(14, "int64")
    start_cost_ns: int = wire(15, "int64")
    deadline_ns: Optional[int] = wire(16, "optional int64")
    deadline_is_soft: bool = wire(17, "bool")
    priority: int = wire(18, "int32")
    after: Tuple[int, ...] = wire(19, "repeated int64")
    retries: int = wire(20, "int32")
    process_per_gpu: bool = wire(21, "bool")
    grace_ns: Optional[int] = wire(22, "optional int64")
    output: str = wire(23, "string")
    checkpoint_directory: str = wire(24, "string")
    array: Tuple[int, ...] = wire(25, "repeated int32")
    errors: str = wire(26, "string")
    time_limit_ns: int = wire(27, "int64")
    signal: int = wire(28, "int32")
    signal_before_ns: int = wire(29, "int64")
    private_tmp: bool = wire(30, "bool")
    node_timeout_ns: int = wire(31, "int64")


@dataclasses.dataclass(frozen=True)
class SubmitRequest(Message):
    job: Optional[JobRequest] = wire(1, "JobRequest")
    key: str = wire(2, "string")


@dataclasses.dataclass(frozen=True)
class SubmitAnswer(Message):
    """Jobs `first` to `first + count - 1` are on disk; `ids` are their numbers."""

    first: int = wire(1, "int64")
    count: int = wire(2, "int64")
    warnings: Tuple[str, ...] = wire(3, "repeated string")

    @property
    def id(self) -> int:
        return self.first

    @property
    def ids(self) -> Tuple[int, ...]:
        return tuple(range(self.first, self.first + self.count))


@dataclasses.dataclass(frozen=True)
class JobStatus(Message):
    id: int = wire(1, "int64")
    name: str = wire(2, "string")
    user: str = wire(3, "string")
    tenant: str = wire(4, "string")
    state: str = enum(5, "State", STATES)
    reason: str = wire(6, "string")
    end: str = wire(7, "string")
    gpus: int = wire(8, "int32")
    cpu_milli: int = wire(9, "int64")
    memory_bytes: int = wire(10, "int64")
    priority: int = wire(11, "int32")
    nodes: Tuple[str, ...] = wire(12, "repeated string")
    command: str = wire(13, "string")
    submitted_s: float = wire(14, "double")
    started_s: Optional[float] = wire(15, "optional double")
    ended_s: Optional[float] = wire(16, "optional double")
    deadline_s: Optional[float] = wire(17, "optional double")
    predicted_start_s: Optional[float] = wire(18, "optional double")
    exit_code: Optional[int] = wire(19, "optional int32")
    signal: Optional[int] = wire(20, "optional int32")
    progress: Optional[float] = wire(21, "optional double")
    epoch: int = wire(22, "int64")
    failures: int = wire(23, "int32")
    stopping: bool = wire(24, "bool")
    promised_s: Optional[float] = wire(25, "optional double")
    deadline_missed: bool = wire(26, "bool")
    promise_missed: bool = wire(27, "bool")
    time_limit_s: Optional[float] = wire(28, "optional double")
    ran_s: Optional[float] = wire(29, "optional double")
    gpu_type: str = wire(30, "string")
    waits_for_devices: bool = wire(31, "bool")

    @property
    def final(self) -> bool:
        """True if the job has ended for good."""
        return self.state in FINAL


@dataclasses.dataclass(frozen=True)
class StatusRequest(Message):
    ids: Tuple[int, ...] = wire(1, "repeated int64")
    finished: Optional[bool] = wire(2, "optional bool")
    user: str = wire(3, "string")
    limit: Optional[int] = wire(4, "optional int64")
    predict: bool = wire(5, "bool")


@dataclasses.dataclass(frozen=True)
class StatusAnswer(Message):
    now_s: float = wire(1, "double")
    policy: str = wire(2, "string")
    jobs: Tuple[JobStatus, ...] = wire(3, "repeated JobStatus")
    pending: int = wire(4, "int64")
    running: int = wire(5, "int64")
    settling: int = wire(6, "int64")


@dataclasses.dataclass(frozen=True)
class CancelRequest(Message):
    ids: Tuple[int, ...] = wire(1, "repeated int64")


@dataclasses.dataclass(frozen=True)
class CancelAnswer(Message):
    cancelled: Tuple[int, ...] = wire(1, "repeated int64")


@dataclasses.dataclass(frozen=True)
class LogsRequest(Message):
    id: int = wire(1, "int64")
    rank: int = wire(2, "int32")
    offset: int = wire(3, "int64")
    most: Optional[int] = wire(4, "optional int64")
    wait_ns: int = wire(5, "int64")
    errors: bool = wire(6, "bool")
    node: str = wire(7, "string")


@dataclasses.dataclass(frozen=True)
class LogsAnswer(Message):
    # `bytes` in the .proto file, which would hide the type.
    bytes_: bytes = wire(1, "bytes")
    next: int = wire(2, "int64")
    ended: bool = wire(3, "bool")
    node: str = wire(4, "string")


@dataclasses.dataclass(frozen=True)
class NodeStatus(Message):
    name: str = wire(1, "string")
    state: str = wire(2, "string")
    address: str = wire(3, "string")
    gpus: int = wire(4, "int32")
    gpus_free: int = wire(5, "int32")
    cpu_milli: int = wire(6, "int64")
    memory_bytes: int = wire(7, "int64")
    gpu_type: str = wire(8, "string")
    seen_s: float = wire(9, "double")
    jobs: Tuple[int, ...] = wire(10, "repeated int64")
    note: str = wire(11, "string")
    zone: str = wire(12, "string")
    losses_per_day: float = wire(13, "double")


@dataclasses.dataclass(frozen=True)
class NodesAnswer(Message):
    nodes: Tuple[NodeStatus, ...] = wire(1, "repeated NodeStatus")


@dataclasses.dataclass(frozen=True)
class EventsRequest(Message):
    # `from` in the .proto file, which is a word of Python.
    from_: int = wire(1, "int64")
    most: Optional[int] = wire(2, "optional int64")
    wait_ns: int = wire(3, "int64")
    record: bool = wire(4, "bool")


@dataclasses.dataclass(frozen=True)
class EventsAnswer(Message):
    lines: Tuple[str, ...] = wire(1, "repeated string")
    next: int = wire(2, "int64")


@dataclasses.dataclass(frozen=True)
class WhatIfRequest(Message):
    job: Optional[JobRequest] = wire(1, "optional JobRequest")
    nodes_more: int = wire(2, "int32")
    policy: str = wire(3, "string")


@dataclasses.dataclass(frozen=True)
class WhatIfAnswer(Message):
    text: str = wire(1, "string")
    json: str = wire(2, "string")


Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


@dataclasses.dataclass(frozen=True)
class Call(Generic[Q, A]):
    """One call: its number in a frame of the Unix socket, and its method and path over HTTP."""

    name: str
    number: int
    method: str
    path: str  # {id}: a field of the request
    request: Type[Q]
    answer: Type[A]


SUBMIT = Call("Submit", 1, "POST", "/v1/jobs", SubmitRequest, SubmitAnswer)
STATUS = Call("Status", 2, "GET", "/v1/jobs", StatusRequest, StatusAnswer)
CANCEL = Call("Cancel", 3, "DELETE", "/v1/jobs/{id}", CancelRequest, CancelAnswer)
LOGS = Call("Logs", 4, "GET", "/v1/jobs/{id}/logs", LogsRequest, LogsAnswer)
NODES = Call("Nodes", 5, "GET", "/v1/nodes", Nothing, NodesAnswer)
EVENTS = Call("Events", 10, "GET", "/v1/events", EventsRequest, EventsAnswer)
WHATIF = Call("WhatIf", 11, "POST", "/v1/whatif", WhatIfRequest, WhatIfAnswer)
CALLS = (SUBMIT, STATUS, CANCEL, LOGS, NODES, EVENTS, WHATIF)
