"""Banks: shards on disk that are made once and used by many condensations; sketches and experts."""

from lqm.banks.bank import Bank, BankWriter
from lqm.banks.checks import (
    require_fine_enough,
    require_same_source,
    settings_to_sketch,
    sketched_method,
    sketched_settings,
)
from lqm.banks.experts import EXPERTS, Experts
from lqm.banks.schedule import advice, encoder_of_step, overuse
from lqm.banks.shard import Shard
from lqm.banks.sketch import (
    FINENESS,
    SKETCH,
    Sketch,
    readouts_in,
    sketch_config,
    stored_samples,
    summary,
)

__all__ = [
    "EXPERTS",
    "FINENESS",
    "SKETCH",
    "Bank",
    "BankWriter",
    "Experts",
    "Shard",
    "Sketch",
    "advice",
    "encoder_of_step",
    "overuse",
    "readouts_in",
    "require_fine_enough",
    "require_same_source",
    "settings_to_sketch",
    "sketch_config",
    "sketched_method",
    "sketched_settings",
    "stored_samples",
    "summary",
]
