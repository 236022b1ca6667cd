"""The way to a scheduler: the Unix socket of a state directory, or HTTPS with a certificate.

Both carry the same messages. The socket takes protobuf's binary form, which wire.py writes: REST
would need a certificate, and logins other than the owner of a state directory have none there.
"""
import http.client
import json
import os
import pathlib
import re
import socket
import ssl
import stat
import struct
import time
import urllib.parse
from typing import Any, List, Mapping, Optional, Tuple

from .errors import (BY_NAME, BY_NUMBER, DataLoss, DeadlineExceeded, Error, FailedPrecondition, Internal,
                     InvalidArgument, PermissionDenied, Unauthenticated, Unavailable)
from .messages import CANCEL, A, Call, Q
from .wire import query

ANSWER_BYTES_MAX = 256 << 20
PIECE = 64 * 1024
START_S = 3.0  # `orrery serve` makes its folder first and its address last


class Connection:
    """One call at a time; it connects when needed, and again after a connection broke."""

    where: str

    def call(self, call: "Call[Q, A]", request: Q, seconds: float) -> A:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class UnixSocket(Connection):
    def __init__(self, path: str) -> None:
        self.where = path
        self._socket: Optional[socket.socket] = None

    def call(self, call: "Call[Q, A]", request: Q, seconds: float) -> A:
        word, body = self._exchange(call.number, request.to_bytes(), time.monotonic() + seconds)
        if word == 0:
            return call.answer.from_bytes(body)
        raise BY_NUMBER.get(word, Internal)(body.decode("utf-8", "replace"))

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange(self, word: int, body: bytes, until: float) -> Tuple[int, bytes]:
        try:
            if self._socket is None:
                self._socket = self._connect()
            connection = self._socket
            self._limit(connection, until)
            try:
                connection.sendall(struct.pack("<IB", len(body) + 1, word) + body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it may have said why
            size, answer = struct.unpack("<IB", self._receive(connection, 5, until))
            if not 1 <= size <= ANSWER_BYTES_MAX:
                raise DataLoss(f"the answer says that it has {size} bytes", self.where)
            return answer, self._receive(connection, size - 1, until)
        except socket.timeout:
            self.close()
            raise DeadlineExceeded("no answer within the time allowed; the scheduler is busy",
                                   self.where) from None
        except OSError as fault:
            self.close()
            if isinstance(fault, Error):
                raise
            raise Unavailable(f"the scheduler does not answer ({fault.strerror or fault}); see whether "
                              "`orrery serve` runs there", self.where) from None
        except BaseException:
            self.close()  # half of an answer may be on its way
            raise

    def _limit(self, connection: socket.socket, until: float) -> None:
        left = until - time.monotonic()
        if left <= 0:
            raise socket.timeout()
        connection.settimeout(left)

    def _receive(self, connection: socket.socket, size: int, until: float) -> bytes:
        pieces = bytearray()
        while len(pieces) < size:
            self._limit(connection, until)
            piece = connection.recv(min(PIECE, size - len(pieces)))
            if not piece:
                raise Unavailable("the scheduler does not answer (it has hung up)", self.where)
            pieces += piece
        return bytes(pieces)

    def _connect(self) -> socket.socket:
        folder = os.path.dirname(self.where) or "."
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        handle = None
        try:
            path = self.where
            if len(os.fsencode(path)) > 107:  # reached through its folder, as the path is too long
                handle = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
                path = f"/proc/self/fd/{handle}/{os.path.basename(path)}"
            connection.settimeout(10)
            connection.connect(path)
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            _, server, _ = struct.unpack("3i", peer)
            if server not in (0, os.stat(folder).st_uid):
                raise Unavailable("the process that listens there does not own the folder", self.where)
            return connection
        except BaseException:
            connection.close()
            raise
        finally:
            if handle is not None:
                os.close(handle)


class Https(Connection):
    def __init__(self, host: str, port: int, credentials: str, name: str) -> None:
        self.where = f"https://{'[' + host + ']' if ':' in host else host}:{port}"
        self._host, self._port = host, port
        self._credentials, self._name = credentials, name
        self._connection: Optional[http.client.HTTPSConnection] = None

    def call(self, call: "Call[Q, A]", request: Q, seconds: float) -> A:
        if call.number == CANCEL.number:  # over HTTP each has a call of its own
            done: List[int] = []
            for job in request.to_json().get("ids", ()):
                answer = CANCEL.answer.from_json(self._ask("DELETE", f"/v1/jobs/{job}", None, seconds))
                done.extend(answer.cancelled)
            return call.answer(**{"cancelled": tuple(done)})
        fields = request.to_json()
        path = call.path.format(**fields)
        if call.method == "POST":
            return call.answer.from_json(self._ask("POST", path, json.dumps(fields), seconds))
        pairs = [pair for pair in query(request) if "{" + pair[0] + "}" not in call.path]
        path += "?" + urllib.parse.urlencode(pairs) if pairs else ""
        return call.answer.from_json(self._ask(call.method, path, None, seconds))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, method: str, path: str, body: Optional[str], seconds: float) -> Any:
        for fresh in (self._connection is None, True):
            try:
                status, text = self._exchange(method, path, body, seconds)
                break
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as fault:
                self.close()  # one that was kept open may have been closed meanwhile
                if fresh:
                    raise Unavailable(f"the scheduler hung up ({fault})", self.where) from None
            except socket.timeout:
                self.close()
                raise DeadlineExceeded("no answer within the time allowed; the scheduler is busy",
                                       self.where) from None
            except ssl.SSLCertVerificationError as fault:
                self.close()
                raise Unauthenticated(f"the scheduler's certificate: {fault.verify_message}; use another of "
                                      "its names, or start it with `--host NAME`", self.where) from None
            except (OSError, http.client.HTTPException) as fault:
                self.close()
                if isinstance(fault, Error):
                    raise
                raise Unavailable(f"the scheduler's HTTPS port does not answer ({fault}); its port is that "
                                  "of `orrery serve --rest`", self.where) from None
            except BaseException:
                self.close()
                raise
        return self._read(status, text)

    def _read(self, status: int, text: bytes) -> Any:
        try:
            answer = json.loads(text.decode("utf-8"))
        except ValueError:
            answer = None
        if status == 200 and answer is not None:
            return answer
        error = answer.get("error") if isinstance(answer, dict) else None
        if isinstance(error, dict):
            raise BY_NAME.get(str(error.get("code")), Internal)(str(error.get("message", "")))
        raise Unavailable(f"answers with status {status}, and not as a scheduler", self.where)

    def _exchange(self, method: str, path: str, body: Optional[str], seconds: float) -> Tuple[int, bytes]:
        if self._connection is None:
            self._connection = http.client.HTTPSConnection(self._host, self._port, timeout=10,
                                                           context=self._context())
            self._connection.connect()
        if self._connection.sock is not None:
            self._connection.sock.settimeout(seconds)
        headers = {"Content-Type": "application/json"} if method == "POST" else {}
        self._connection.request(method, path, body=body, headers=headers)
        answer = self._connection.getresponse()
        text = answer.read(ANSWER_BYTES_MAX + 1)
        if len(text) > ANSWER_BYTES_MAX:
            raise DataLoss("the answer is too long", self.where)
        return answer.status, text

    def _context(self) -> ssl.SSLContext:
        """Read again for each connection: a certificate may have been renewed."""
        folder = pathlib.Path(self._credentials)
        key = folder / f"{self._name}.key"
        for file in (folder / "ca.pem", folder / f"{self._name}.pem", key):
            try:
                mode = file.stat().st_mode
                file.open("rb").close()
            except OSError as fault:
                raise PermissionDenied(f"cannot be read ({fault.strerror}); `orrery join` writes it",
                                       str(file)) from None
            if file == key and stat.S_IMODE(mode) & 0o077:
                raise FailedPrecondition("other logins can read this key; chmod 600 it, and join again if "
                                         "they may have", str(file))
        try:
            context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
            context.load_cert_chain(str(folder / f"{self._name}.pem"), str(key))
        except (ssl.SSLError, ValueError) as fault:
            raise FailedPrecondition(f"the credentials cannot be used ({fault}); join again",
                                     str(folder)) from None
        return context


def find(state: Optional[str], server: Optional[str], credentials: Optional[str],
         environment: Mapping[str, str]) -> Connection:
    """The scheduler that the arguments name, else ORRERY_STATE's, as the command line finds it."""
    if state and server:
        raise InvalidArgument("state and server name two schedulers; leave out one")
    if credentials and not server:
        raise InvalidArgument("credentials goes with server='HOST:PORT'; a state directory has its own")
    if server:
        return _at_server(server, credentials, environment)
    named = state or environment.get("ORRERY_STATE")
    if not named:
        raise InvalidArgument("which scheduler? Write state='DIR' (or set ORRERY_STATE) for one on this "
                              "machine, or server='HOST:PORT'")
    return _in_state(str(named))


def _in_state(state: str) -> Connection:
    address = os.path.join(state, "address")
    end = time.monotonic() + START_S
    while True:
        try:
            with open(address, encoding="utf-8") as file:
                if file.readline().strip():
                    return UnixSocket(os.path.join(state, "socket"))
        except PermissionError:
            raise PermissionDenied("is closed to this login; its scheduler serves its owner and root alone, "
                                   "unless it is started with --other-users", state) from None
        except FileNotFoundError:
            if not os.path.isdir(state):
                raise InvalidArgument("there is no such state directory; is `orrery serve --local --state "
                                      f"{state}` running?", state) from None
        except OSError as fault:
            raise InvalidArgument(f"is no state directory ({fault.strerror})", state) from None
        if time.monotonic() >= end:
            raise Unavailable(f"says no address; is `orrery serve --local --state {state}` running?", address)
        time.sleep(0.05)


def _at_server(server: str, credentials: Optional[str], environment: Mapping[str, str]) -> Connection:
    found = re.fullmatch(r"(\[[0-9A-Za-z:.%]+\]|[^\s:/\[\]]+):([0-9]{1,5})", server)
    if not found or not 0 < int(found.group(2)) < 65536:
        raise InvalidArgument(f"{server!r} is no address; write HOST:PORT, such as gpu-head:7077")
    folder = credentials or environment.get("ORRERY_CREDENTIALS")
    if not folder:
        if not environment.get("HOME"):
            raise InvalidArgument("HOME is not set; say where the credentials are by credentials='DIR'")
        folder = os.path.join(environment["HOME"], ".config", "orrery")
    if not os.path.exists(os.path.join(folder, "ca.pem")):
        raise InvalidArgument("there are no credentials; get a token from the cluster's admin and run "
                              f"`orrery join --server {server} --token-file FILE`", str(folder))
    port = int(found.group(2))
    try:  # `orrery join` keeps the HTTPS port beside the certificate, as commands name gRPC's
        with open(os.path.join(folder, "https_port"), encoding="ascii") as file:
            port = int(file.read().strip())
    except (OSError, ValueError):
        pass
    return Https(found.group(1).strip("[]"), port, str(folder), "client")
