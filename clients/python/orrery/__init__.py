"""Orrery from Python: a client of the scheduler, and what a training job says to it.

    import orrery

    client = orrery.Client()                        # ORRERY_STATE, as `orrery status`
    job = client.submit(["python3", "train.py"], gpus=2, time="2h")
    client.wait(job)

    with orrery.training(model, optimizer, loader, epochs=10) as run:   # in train.py
        for batch in run:
            ...

Standard library only; torch, numpy, pandas and TensorBoard are used where they are. docs/python.md
"""
from . import job
from .client import Client, Event, Forecast, JobFailed
from .errors import (Aborted, AlreadyExists, Cancelled, DataLoss, DeadlineExceeded, Error, FailedPrecondition,
                     Internal, InvalidArgument, NotFound, PermissionDenied, ResourceExhausted, Unauthenticated,
                     Unavailable, Unimplemented)
from .jobspec import JobSpec
from .loader import AnyIterable, Loader
from .messages import JobStatus, NodeStatus, SubmitAnswer
from .run import Run, training
from .table import Table

__version__ = "0.1.0"
__all__ = [
    "Aborted", "AlreadyExists", "AnyIterable", "Cancelled", "Client", "DataLoss", "DeadlineExceeded", "Error", "Event",
    "FailedPrecondition", "Forecast", "Internal", "InvalidArgument", "JobFailed", "JobSpec", "JobStatus", "Loader",
    "NodeStatus", "NotFound", "PermissionDenied", "ResourceExhausted", "Run", "SubmitAnswer", "Table",
    "Unauthenticated", "Unavailable", "Unimplemented", "job", "training",
]
