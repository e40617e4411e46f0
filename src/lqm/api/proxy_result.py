"""What a condensed set says of configurations, and what all data say of the one that is chosen."""

import time
from dataclasses import dataclass, field

import torch

from lqm.api.configurations import Configuration
from lqm.evaluation.markdown import markdown
from lqm.evaluation.spread import Spread
from lqm.images.networks import Network
from lqm.images.sources import ImageSource
from lqm.images.tuning import Candidate, accuracy_of
from lqm.utils.errors import ConfigError
from lqm.utils.sentences import counted


@dataclass(frozen=True)
class Trial:
    """One configuration on the condensed set.

    Attributes:
        configuration: as it was given.
        words: the same for a table.
        candidate: its network, and all rules by which it was trained.
        accuracies: on validation images, of each network.
        seconds: of training and scoring these networks, whenever that was.
    """

    configuration: Configuration
    words: str
    candidate: Candidate = field(repr=False)
    accuracies: tuple[float, ...]
    seconds: float

    @property
    def accuracy(self) -> float:
        """The mean of the accuracies."""
        return Spread(self.accuracies).mean


@dataclass(frozen=True)
class Retrained:
    """A configuration on all training images.

    Attributes:
        network: that was trained, in evaluation mode; it takes what the source's `normalised` gives.
        accuracy: on the test images.
        records: how many training images there are.
        epochs: that it was trained for.
        seconds: of training and testing it.
    """

    configuration: Configuration
    network: Network = field(repr=False)
    accuracy: float
    records: int
    epochs: int
    seconds: float


@dataclass(frozen=True)
class ProxyResult:
    """Configurations by their accuracy on validation images after training on a condensed set.

    Attributes:
        trials: in the order in which they were given.
        records: how many images they were trained on.
        source: the real images.
        unseen: whether the set was condensed without the validation images.
    """

    trials: tuple[Trial, ...]
    records: int
    source: ImageSource = field(repr=False)
    unseen: bool
    seed: int
    device: torch.device = field(repr=False)

    @property
    def ranked(self) -> tuple[Trial, ...]:
        """The best one first; of equal ones that which was given first."""
        return tuple(sorted(self.trials, key=lambda trial: -trial.accuracy))

    @property
    def best(self) -> Configuration:
        """The configuration with the highest mean accuracy on validation images."""
        return self.ranked[0].configuration

    @property
    def accuracies(self) -> tuple[float, ...]:
        """The mean accuracy of each trial, in the order in which they were given."""
        return tuple(trial.accuracy for trial in self.trials)

    @property
    def seconds(self) -> float:
        """Of all trials together."""
        return sum(trial.seconds for trial in self.trials)

    def retrain(self, rank: int = 1, *, index: int = 0) -> Retrained:
        """Train a configuration on all training images, those for validation among them, and test it once.

        It is trained for its own epochs, or for fewer where these would take more than the protocol's
        `full_steps` steps.

        Args:
            rank: of the configuration; 1 is the best.
            index: another number trains another network.

        Raises:
            ConfigError: when there is no such rank, or the source has its test images left out.
        """
        if not 1 <= rank <= len(self.trials):
            raise ConfigError(f"there is no rank {rank}; it should be from 1 to {len(self.trials)}")
        if self.source.scored_on == "validation":
            raise ConfigError(
                f"'{self.source.name}' was given without its test images; give the whole source to retrain"
            )
        trial, images = self.ranked[rank - 1], self.source.train
        began = time.monotonic()
        network = trial.candidate.trained(
            images, self.source, seed=self.seed, index=index, device=self.device, full=True
        )
        accuracy = accuracy_of(network, self.source)
        seconds, count = time.monotonic() - began, len(images.labels)
        epochs = trial.candidate.protocol.epochs_for(count, full=True)
        return Retrained(trial.configuration, network, accuracy, count, epochs, seconds)

    def __str__(self) -> str:
        rows = [
            (str(rank), trial.words, Spread(trial.accuracies).percent(), f"{trial.seconds:.1f}")
            for rank, trial in enumerate(self.ranked, start=1)
        ]
        table = markdown(("rank", "configuration", "validation accuracy %", "seconds"), rows)
        networks = counted(len(self.trials[0].accuracies), "network", "networks")
        seen = "" if self.unseen else "; the set was condensed from all training images, these among them"
        return (
            f"{table}\n\n{networks} of each configuration, trained on {self.records:,} condensed images and "
            f"scored on held-out training images of '{self.source.name}'{seen}; {self.seconds:.1f} s in all\n"
        )
