"""Condensation after the conventions of scikit-learn and imbalanced-learn, for feature matrices.

    X_small, y_small = Condenser(per_class=10, random_state=0).fit_resample(X, y)

`Condenser` is a sampler, as imbalanced-learn's prototype generation is: a step of its pipelines. These refuse
a step that has `fit_resample` and `transform` both, so the transformer is a class of its own:
`PrototypeDistances` describes each row by its distances to the condensed ones.
"""

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
)
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from lqm.condensed import CondensedTable
from lqm.distances import DISTANCES, Distance
from lqm.engine import resolve_device, run
from lqm.methods.named_distance import named_distance
from lqm.methods.plan import distance_for
from lqm.recipes import TABLES, chosen_recipe
from lqm.sklearn.conventions import (
    Array,
    SamplerTags,
    in_dtype,
    like,
    one_dimensional,
    places,
    sampler_tags,
)
from lqm.tabular.methods import METHODS
from lqm.tabular.problem import TableProblem
from lqm.tabular.sources import TableSource, from_arrays
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose
from lqm.utils.settings import Count, check, make_settings

__all__ = ["Condenser", "PrototypeDistances"]


class _Condensing(BaseEstimator):
    """What both estimators share: the parameters, and the condensation itself."""

    def __init__(
        self,
        per_class: int = 10,
        *,
        method: str = "dm",
        distance: "str | Distance | None" = None,
        steps: int | None = None,
        settings: dict[str, Any] | None = None,
        device: str = "auto",
        random_state: "int | np.random.RandomState | None" = None,
        verbose: bool = False,
    ) -> None:
        self.per_class = per_class
        self.method = method
        self.distance = distance
        self.steps = steps
        self.settings = settings
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _condense(self, X: Any, y: Any) -> tuple[Array, Array]:  # noqa: N803
        """Check and condense; gives the rows and the labels as they were checked."""
        features, labels = validate_data(self, X, one_dimensional(y), dtype="numeric", ensure_min_samples=2)
        check_classification_targets(labels)
        self.classes_, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class, {self.classes_[0]!r}; it should have two or more")
        try:
            check("per_class", self.per_class, Count)
            source = from_arrays(
                features, codes, class_names=list(map(str, self.classes_)), test_fraction=0.0, name="X"
            )
            counts = np.minimum(sizes, self.per_class).tolist()
            self.condensed_ = self._learn(source, tuple(counts))
        except (ConfigError, DataError) as error:
            # What scikit-learn's callers expect of a parameter or of data that can't be used.
            raise ValueError(str(error)) from error
        self.sampling_strategy_ = dict(zip(self.classes_.tolist(), counts, strict=True))
        return features, labels

    def _learn(self, source: TableSource, counts: tuple[int, ...]) -> CondensedTable:
        spec = choose(self.method, METHODS, "method")
        given = {**(self.settings or {}), **({} if self.steps is None else {"steps": self.steps})}
        recipe = chosen_recipe(TABLES, None, self.method, self.per_class, cpu=False)
        settings = make_settings(spec.settings, recipe.settings | given)
        distance = self.distance
        if isinstance(distance, str):
            distance = named_distance(distance)
        matched = distance_for(self.method, matches=spec.matches, distance=distance, default=spec.distance)
        problem = TableProblem(
            class_names=source.class_names,
            counts=counts,
            distance=matched or DISTANCES["lqm"],
            seed=self._seed(),
            device=resolve_device(self.device),
            source=source,
        )
        built = spec.build(problem, settings)
        run(built, settings.steps, name=f"condense by {self.method}", show_progress=bool(self.verbose))
        result = built.result()
        assert isinstance(result, CondensedTable)
        return result

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))


class Condenser(OneToOneFeatureMixin, _Condensing):
    """A small synthetic set in place of a large labelled one, by distribution matching or a coreset.

    Args:
        per_class: rows of each class in the result; a class that has fewer keeps as many as it has.
        method: `dm`, which learns rows, or `random`, `herding`, `k-centre` or `k-means`, which choose real
            ones.
        distance: what `dm` matches by, `lqm` if not given: a name, or an object of your own.
        steps: of `dm`; as in the recipe if not given.
        settings: further settings of the method, such as `{"learning_rate": 0.02, "init": "k-means"}`.
        device: `auto`, `cpu`, `cuda`.
        random_state: everything random follows from it; a whole number is `lqm.condense`'s seed.
        verbose: whether to show progress.

    Attributes:
        X_resampled_: the rows, in the units and the dtype of `X` (whole numbers are rounded).
        y_resampled_: their labels, as in `y`.
        condensed_: the set as `lqm` knows it, standardised, with `save` and `records`.
        sample_indices_: the numbers of the rows of `X` that were chosen, of methods that choose.
        sampling_strategy_: how many rows each class has.
        classes_: the labels, sorted.
        n_features_in_: how many features `X` has.
        feature_names_in_: their names, if `X` has any.

    Example:
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True)
        >>> X_small, y_small = Condenser(per_class=2, steps=5, random_state=0).fit_resample(X, y)
        >>> X_small.shape, y_small.tolist()
        ((6, 13), [0, 0, 1, 1, 2, 2])
    """

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Condense `X`, [N, F], with labels `y`, [N]; the result is in `X_resampled_` and `y_resampled_`.

        Raises:
            ValueError: when the data or a parameter can't be used.
        """
        features, labels = self._condense(X, y)
        codes = self.condensed_.labels.numpy()
        self.y_resampled_ = self.classes_[codes].astype(labels.dtype)
        if METHODS[self.method].matches:
            self.X_resampled_ = in_dtype(self.condensed_.records()[0].numpy(), features.dtype)
        else:
            self.sample_indices_ = places(self.condensed_, features)
            self.X_resampled_ = features[self.sample_indices_]
        return self

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:  # noqa: N803
        """The condensed rows and their labels; lists and pandas objects are given back as such.

        Raises:
            ValueError: when the data or a parameter can't be used.
        """
        self.fit(X, y)
        labels: Array = self.y_resampled_
        if type_of_target(y) == "multilabel-indicator":
            labels = (labels[:, None] == self.classes_).astype(np.asarray(y).dtype)
        rows = like(self.X_resampled_, X)
        labels = like(labels, y)
        return rows, labels

    def __sklearn_tags__(self) -> SamplerTags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return sampler_tags(tags, chooses=self.method in METHODS and not METHODS[self.method].matches)


class PrototypeDistances(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Condensing):
    """Describes each row by its Euclidean distances to the rows of a condensed set, in standardised units.

    The parameters are those of `Condenser`, and so are the attributes `condensed_`, `classes_`,
    `n_features_in_` and `feature_names_in_`.
    """

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Condense `X`, [N, F], with labels `y`, [N].

        Raises:
            ValueError: when the data or a parameter can't be used.
        """
        self._condense(X, y)
        return self

    def transform(self, X: Any) -> Array:  # noqa: N803
        """Distances to the condensed rows, [N, M]."""
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype="numeric")
        by = self.condensed_.standardisation
        standardised = (features.astype(np.float64) - by.mean.numpy()) / by.scale.numpy()
        distances: Array = cdist(standardised, self.condensed_.data.double().numpy())
        return distances

    @property
    def _n_features_out(self) -> int:
        """How many columns `transform` gives."""
        return len(self.condensed_.labels)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
