"""DM: distribution matching with a fresh random network at every step."""

from typing import Literal

from pydantic.dataclasses import dataclass

from lqm.engine.randomness import generator
from lqm.images.methods.matching import Matching
from lqm.images.methods.settings import MatchingSettings
from lqm.images.methods.views import View


@dataclass(frozen=True, config={"extra": "forbid"})
class DMSettings(MatchingSettings):
    """Zhao & Bilen 2023, "Dataset condensation with distribution matching"; defaults are the paper's.

    Attributes:
        stepping: one update for the sum over all classes, or one after each class (which needs less memory).
    """

    stepping: Literal["summed", "one-by-one"] = "summed"


class DM(Matching):
    """At each step, match every class's features under one fresh random network and one shared transform.

    S <- clip(S - learning_rate * gradient of sum over classes of D(phi(A(T_c)), phi(A(S_c))))
    """

    Settings = DMSettings
    settings: DMSettings

    @property
    def one_by_one(self) -> bool:
        """As the settings say."""
        return self.settings.stepping == "one-by-one"

    def make_view(self, number: int) -> View:
        """What a fresh random network sees."""
        network = self.fresh_network("network", number).requires_grad_(False)
        return self.see(self.sights.of(network), generator(self.seed, "batch", number))
