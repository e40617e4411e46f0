"""What the methods share that match readouts of real and synthetic images."""

from lqm.images.methods.settings import MatchingSettings
from lqm.images.problem import ImageProblem
from lqm.images.real import RealImages, siamese
from lqm.images.sketching import ImageSketcher, StoredEncoders
from lqm.images.synthetic import SyntheticImages
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.encoders import Encoders
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.targets import LiveTargets


def match_readouts(
    problem: ImageProblem,
    settings: MatchingSettings,
    synthetic: SyntheticImages,
    objective: FeatureMatching,
    encoders: Encoders,
    stored: StoredEncoders,
    *,
    per_class: bool,
) -> Condensation:
    """Match real and synthetic images, class by class, under siamese augmentation.

    Args:
        problem: what is condensed.
        settings: of the method.
        synthetic: the images that are learned.
        objective: what is compared.
        encoders: the networks that look at the real images.
        stored: those of a sketch, which take their place if the problem has one.
        per_class: whether each class has an update of its own.
    """
    groups = problem.class_groups(
        settings.network, settings.real_batch, synthetic.counts[0], per_class=per_class
    )
    real = RealImages(problem, settings.real_batch, groups, siamese(problem))
    sketcher = ImageSketcher(problem, stored, real, objective)
    if problem.sketch:
        targets = Pass(objective, sketcher.targets(problem.sketch))
        return Condensation(problem, synthetic, None, [targets], per_class=per_class, sketcher=sketcher)
    live = Pass(objective, LiveTargets(encoders, real, objective, problem.seed))
    return Condensation(problem, synthetic, encoders, [live], per_class=per_class, sketcher=sketcher)
