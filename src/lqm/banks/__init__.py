"""Sketches: what many encoders leave behind of the real data, made once and used by many condensations."""

from lqm.banks.checks import (
    require_fine_enough,
    require_same_source,
    settings_to_sketch,
    sketched_method,
    sketched_settings,
)
from lqm.banks.folder import Shard, Sketch, SketchWriter
from lqm.banks.plan import FINENESS, SketchPlan, sketch_config
from lqm.banks.schedule import advice, encoder_of_step, overuse

__all__ = [
    "FINENESS",
    "Shard",
    "Sketch",
    "SketchPlan",
    "SketchWriter",
    "advice",
    "encoder_of_step",
    "overuse",
    "require_fine_enough",
    "require_same_source",
    "settings_to_sketch",
    "sketch_config",
    "sketched_method",
    "sketched_settings",
]
