"""What the processes of a training say to the scheduler, and hear from it together."""
from typing import Mapping, Optional

from .gang import Gang
from .job import Job


class Speaker:
    """The job socket of this process, and the other processes behind it."""

    def __init__(self, environment: Mapping[str, str], every: int = 1) -> None:
        self.gang = Gang(environment)
        self.job = Job(environment if self.gang.speaks else {}, every)
        self._every = every

    def reason_to_stop(self, done: int, terminated: bool = False) -> Optional[str]:
        """Why all processes stop after `done` iterations, where they do. All must ask alike."""
        if done % self._every:
            return None
        stop = self.job.should_stop(done)
        reason = (self.job.stop_reason or "preempt") if stop else "terminated" if terminated else None
        if self.gang.own_socket or not self.gang.any(reason is not None):
            return reason
        return next(str(found) for found in self.gang.gather(reason) if found)

    def close(self, finished: bool) -> None:
        self.job.close(finished=finished)
