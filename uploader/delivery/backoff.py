"""How long a sink pauses after a failure. Chance spreads producers that failed together, so that they return apart."""

BASE_S = 1.0
"""The middle of the first pause after a failure; it doubles with each failure in a row."""
STEP_S = 0.5
"""The middle of the first pause after a refusal without a `Retry-After`; each refusal in a row adds as much, up to
`PLATEAU_S`, and again after `NUM_PATIENT` of them. Doubling would starve a producer that finds a busy service full a
few times, since the others start at once what they have; one that is down is full for longer."""
PLATEAU_S = 1.0
NUM_PATIENT = 60
MOST_S = 30.0
"""The middle of the longest pause."""
SPREAD = 0.25
"""How much longer than the service asked a pause may be, as a share."""


def failure_pause_s(failures: int, jitter: float) -> float:
    """The pause when there was no final answer: between half and one and a half times the doubling one.

    Args:
        failures: how many there were in a row, at least 1.
        jitter: a random number in [0, 1).
    """
    return float(min(BASE_S * 2.0 ** min(failures - 1, 64), MOST_S) * (0.5 + jitter))


def refusal_pause_s(failures: int, retry_after_s: float | None, jitter: float) -> float:
    """The pause when the service was full: never shorter than it asked.

    Args:
        failures: how many there were in a row, at least 1.
        retry_after_s: its `Retry-After`, None when it did not say.
        jitter: a random number in [0, 1).
    """
    middle_s = min(STEP_S * failures, PLATEAU_S) + STEP_S * max(0, failures - NUM_PATIENT)
    own_s = min(middle_s, MOST_S) * (0.5 + jitter)
    if retry_after_s is None:
        return own_s
    asked_s = retry_after_s * (1.0 + SPREAD * jitter)
    return asked_s if retry_after_s >= STEP_S else max(asked_s, own_s)  # "0" is no wish to be hammered at
