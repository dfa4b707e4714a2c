"""What clocks, database and host do to an owner, as bounds in milliseconds: the quantities every figure depends on."""

import attrs

from tenure_model.vocabulary.constants import HEARTBEAT_INTERVAL_MS


@attrs.frozen
class Conditions:
    """How bad things may be, each an integer in ms. The defaults are what the write tolerance answers for (RS-013).

    - ``skew_ms``: the peer's clock minus the owner's while the owner counts its budget; below 0 it lags.
    - ``ahead_ms``: at most so far does the peer's reading run ahead of its own clock, 0..10,000 (RS-309, hazard H-09).
    - ``activation_ms``: from the reading of the activation to its commit, 0..``start_delay_ms`` (hazard H-12).
    - ``start_delay_ms``: from that reading to the start of the loop, at most (RS-910, hazard H-11).
    - ``reconfirm_ms``: a reconfirm that fails answers within it, 0..1,000, or hangs if that is 1,000 (RS-913).
    - ``set_back_ms``: the owner's clock may be set back once, by so much (hazard H-14).
    - ``wake_late_ms``: a sleep lasts at most so much too long (RS-912).
    - ``limit_late_ms``: a limit cuts off at most so late (RS-913).
    - ``hook_ms``: ``onLapse``, and the work from its interruption to its standstill, take at most so long together
      (RS-914, hazard H-15).
    """

    skew_ms: int = 0
    ahead_ms: int = 0
    activation_ms: int = 0
    start_delay_ms: int = 0
    reconfirm_ms: int = HEARTBEAT_INTERVAL_MS
    set_back_ms: int = 0
    wake_late_ms: int = 0
    limit_late_ms: int = 0
    hook_ms: int = 0
