"""Errors of the package: each says where, what, and what to do instead."""
from typing import Dict, Type


class Error(Exception):
    """What every call of this package raises when the world fails."""

    code = "Internal"

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message
        self.where = where


class Cancelled(Error):
    code = "Cancelled"


class InvalidArgument(Error, ValueError):
    code = "InvalidArgument"


class DeadlineExceeded(Error, TimeoutError):
    code = "DeadlineExceeded"


class NotFound(Error, LookupError):
    code = "NotFound"


class AlreadyExists(Error):
    code = "AlreadyExists"


class PermissionDenied(Error, PermissionError):
    code = "PermissionDenied"


class ResourceExhausted(Error):
    code = "ResourceExhausted"


class FailedPrecondition(Error):
    code = "FailedPrecondition"


class Aborted(Error):
    code = "Aborted"


class Unimplemented(Error):
    code = "Unimplemented"


class Internal(Error):
    code = "Internal"


class Unavailable(Error, ConnectionError):
    code = "Unavailable"


class DataLoss(Error):
    code = "DataLoss"


class Unauthenticated(Error):
    code = "Unauthenticated"


# The numbers of gRPC, which a frame of the Unix socket carries.
BY_NUMBER: Dict[int, Type[Error]] = {
    1: Cancelled,
    3: InvalidArgument,
    4: DeadlineExceeded,
    5: NotFound,
    6: AlreadyExists,
    7: PermissionDenied,
    8: ResourceExhausted,
    9: FailedPrecondition,
    10: Aborted,
    12: Unimplemented,
    13: Internal,
    14: Unavailable,
    15: DataLoss,
    16: Unauthenticated,
}
BY_NAME: Dict[str, Type[Error]] = {kind.code: kind for kind in BY_NUMBER.values()}
