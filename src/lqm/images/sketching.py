"""Sketches of pictures: what many encoders leave behind of each class, for later condensations."""

from lqm.engine.randomness import generator, seeded
from lqm.images.methods.matching import Matching
from lqm.images.methods.sketched import sketched
from lqm.sketches import FINENESS, SketchWriter


def sketch_encoder(learner: Matching, writer: SketchWriter, number: int, max_per_class: int) -> None:
    """Make encoder number n and what it leaves behind of the real pictures, and add both to a sketch."""
    with seeded(learner.seed, "sketch forward", number):
        state = learner.encoder_state(number, lambda earlier: writer.read(earlier).below("encoder"))
        sight, _ = learner.encoder(state)
        glances = learner.glances(sight, generator(learner.seed, "sketch batch", number))
        found = sketched(glances, FINENESS * max_per_class)
    writer.write(number, found | {f"encoder.{name}": part for name, part in state.items()})
