"""When to try again: an immutable policy, each failure giving the next one and a delay; and the wait itself."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from uploader.errors import APIError
from uploader.limits import DEFAULT_MAX_ATTEMPTS, RETRY_AFTER_CAP_S
from uploader.models import Batch

_SECONDS = re.compile(r"\d+(\.\d*)?", re.ASCII)


class Retry(NamedTuple):
    """What to do after a failure: wait, then go on under the next policy."""

    delay_s: float
    policy: "RetryPolicy"


@dataclass(frozen=True)
class RetryPolicy:
    """How often to try, and how long to wait in between.

    Attributes:
        max_attempts: requests in all, the first included.
        base_delay_s: the middle of the first delay; it doubles with each failure.
        max_delay_s: the middle of the longest delay.
        failures: how many attempts have failed so far.
    """

    max_attempts: int = DEFAULT_MAX_ATTEMPTS
    base_delay_s: float = 1.0
    max_delay_s: float = 30.0
    failures: int = 0

    def after_failure(self, retry_after_s: float | None, jitter: float) -> Retry | None:
        """The next step after one more failed attempt, None when there is none left.

        Args:
            retry_after_s: what the service asked for; it wins over the back-off, up to 60 s.
            jitter: a random number in [0, 1); the delay lies between half and one and a half times
                the doubling one, so that producers that failed together do not return together.
        """
        failures = self.failures + 1
        if failures >= self.max_attempts:
            return None
        if retry_after_s is not None:
            delay_s = min(max(0.0, retry_after_s), RETRY_AFTER_CAP_S)
        else:
            # The exponent is bounded: 2.0 ** 2000 overflows, and max_attempts is the caller's.
            doubled_s = self.base_delay_s * 2.0 ** min(failures - 1, 64)
            delay_s = min(doubled_s, self.max_delay_s) * (0.5 + jitter)
        return Retry(delay_s, replace(self, failures=failures))


def retry_after_seconds(value: str | None, now: datetime) -> float | None:
    """A `Retry-After` header in seconds from `now`: at least 0, at most 60, None when unusable.

    Args:
        value: the header: seconds, or an HTTP date.
        now: when the answer came, with a time zone.
    """
    if value is None:
        return None
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return min(float(value), RETRY_AFTER_CAP_S)
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:  # "-0000": a time in UTC whose place is unknown
            moment = moment.replace(tzinfo=UTC)
        delay_s = (moment - now).total_seconds()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(max(0.0, delay_s), RETRY_AFTER_CAP_S)


@dataclass(frozen=True)
class Sleep:
    """Wait, then the same request is sent again. Handed to `on_retry` hooks as it is.

    Attributes:
        delay_s: how long.
        attempt: the number of the attempt that failed, counted from 1.
        error: how it failed.
        batch: what is being uploaded, None when reading.
    """

    delay_s: float
    attempt: int
    error: APIError
    batch: Batch | None = None
