import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score, roc_curve

from lqm.engine.randomness import generator
from lqm.evaluation.audit.attacks import alike, attack, confidence, halves, loss_scores, ratio_scores
from lqm.evaluation.audit.statistics import area, is_more_often, log_ratio, mean, rate_at, share

scores = st.lists(st.integers(-5, 5), min_size=2, max_size=40).map(
    lambda found: torch.tensor(found, dtype=torch.float64)
)


def known(members, others):
    """Labels and scores as sklearn takes them."""
    return np.r_[np.ones(len(members)), np.zeros(len(others))], np.r_[members.numpy(), others.numpy()]


@given(scores, scores)
def test_the_area_is_sklearns_with_ties_and_inside_its_interval(members, others):
    found = area(members, others)
    assert found.value == pytest.approx(roc_auc_score(*known(members, others)))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


@given(scores, scores)
def test_exchanging_members_and_others_mirrors_the_area(members, others):
    one, other = area(members, others), area(others, members)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-6)


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.5])
def test_the_interval_of_the_area_holds_the_true_one_nineteen_times_in_twenty(shift):
    draws, truth = np.random.default_rng(0), stats.norm.cdf(shift / 2**0.5)
    held = 0
    for _ in range(300):
        members, others = (torch.from_numpy(draws.normal(mu, 1, 20)) for mu in (shift, 0))
        found = area(members, others)
        held += found.low <= truth <= found.high
    assert held / 300 > 0.92


@given(st.integers(1, 200), st.data())
def test_shares_have_the_interval_of_clopper_and_pearson(trials, data):
    successes = data.draw(st.integers(0, trials))
    expected = stats.binomtest(successes, trials).proportion_ci(method="exact")
    found = share(successes, trials)
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-9)


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_shares_are_compared_by_fishers_exact_test(trials, other_trials, data):
    one, other = data.draw(st.integers(0, trials)), data.draw(st.integers(0, other_trials))
    table = [[one, trials - one], [other, other_trials - other]]
    chance = stats.fisher_exact(table, alternative="greater").pvalue
    if abs(chance - 0.025) > 1e-9:
        assert is_more_often(one, trials, other, other_trials) == (chance < 0.025)


@given(scores, scores, st.sampled_from([0.05, 0.1, 0.3]))
def test_the_rate_is_the_best_of_sklearns_curve_at_so_many_false_positives(members, others, rate):
    found = rate_at(members, others, rate)
    if len(others) * rate < 1 - 1e-9:
        assert found is None
        return
    false, true, _ = roc_curve(*known(members, others), drop_intermediate=False)
    assert found.value == pytest.approx(true[false <= rate + 1e-9].max())
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize(("counts", "rate"), [((1000, 200), 0.05), ((1000, 100), 0.01), ((1000, 40), 0.025)])
def test_the_interval_of_a_rate_counts_the_threshold_as_an_estimate(counts, rate):
    """Where nothing tells members, the true rate is the false one; the exact interval alone misses it.

    So does one by resamples where a single record is above the threshold: none reaches beyond it.
    """
    draws = np.random.default_rng(0)
    above, exact = 0, 0
    for _ in range(100):
        members, others = (torch.from_numpy(draws.normal(size=count)) for count in counts)
        found = rate_at(members, others, rate)
        above += found.low > rate
        exact += share(round(found.value * len(members)), len(members)).low > rate
        assert found.high > 0
    assert above <= 6
    assert exact > 10


def test_the_interval_of_a_rate_holds_the_true_one_where_members_are_told():
    draws, truth = np.random.default_rng(0), 1 - stats.norm.cdf(stats.norm.ppf(0.98) - 1)
    held = 0
    for _ in range(100):
        members, others = (torch.from_numpy(draws.normal(mu, 1, 300)) for mu in (1, 0))
        found = rate_at(members, others, 0.02)
        held += found.low <= truth <= found.high
    assert held > 90


def test_too_few_others_give_no_rate():
    found = attack(torch.randn(50), torch.randn(999))
    assert found.rates[0] is not None
    assert found.rates[1] is None
    assert attack(torch.randn(50), torch.randn(1000)).rates[1] is not None


def test_the_mean_has_the_bootstrap_interval_of_scipy():
    values = np.random.default_rng(0).exponential(size=60)
    found = mean(torch.from_numpy(values), generator(0, "test"))
    expected = stats.bootstrap((values,), np.mean, method="percentile", random_state=0).confidence_interval
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.03)


def test_the_likelihood_ratio_is_that_of_two_normal_distributions():
    draws = generator(0, "test")
    shadows, target = torch.randn(6, 9, generator=draws).double(), torch.randn(9, generator=draws).double()
    inside = halves(torch.zeros(9, dtype=torch.int64), 6, 0)
    found = log_ratio(target, shadows, inside)
    for side in (inside, ~inside):
        assert (side.sum(dim=0) == 3).all()
    spreads = []
    for side in (inside, ~inside):
        parts = [shadows[side[:, i], i].numpy() for i in range(9)]
        pooled = sum(((part - part.mean()) ** 2).sum() for part in parts) / sum(len(p) - 1 for p in parts)
        spreads.append((parts, pooled**0.5))
    for i in range(9):
        logs = [stats.norm.logpdf(target[i], parts[i].mean(), sd) for parts, sd in spreads]
        assert found[i].item() == pytest.approx(logs[0] - logs[1])


def test_confidences_are_log_odds_and_give_the_loss():
    logits, labels = 3 * torch.randn(20, 4), torch.randint(4, (20,))
    chances = logits.double().softmax(dim=1)[torch.arange(20), labels]
    found = confidence(logits, labels)
    assert torch.allclose(found, (chances / (1 - chances)).log(), atol=1e-4)
    loss = torch.nn.functional.cross_entropy(logits.double(), labels, reduction="none")
    assert torch.allclose(loss_scores(found[None]), -loss)


some_labels = st.lists(st.integers(0, 3), min_size=1, max_size=60).map(torch.tensor)


@given(some_labels, some_labels)
def test_attacked_records_have_their_classes_in_the_same_shares(train, held_out):
    if not torch.isin(held_out, train).any():
        return
    places = alike(train, held_out, 1000, 0)
    members, others = (
        own[chosen].bincount(minlength=4).double()
        for own, chosen in zip((train, held_out), places, strict=True)
    )
    assert ((members > 0) == (others > 0)).all()
    for chosen in places:
        assert len(chosen.unique()) == len(chosen)
    ratio = others[members > 0] / members[members > 0]
    # Whole records only: a class may miss one.
    assert (ratio + 1 / members[members > 0] >= ratio.max() - 1e-6).all()
    assert all(len(chosen) <= 3 for chosen in alike(train, held_out, 3, 0))


def test_a_class_of_which_one_record_is_held_out_does_not_shrink_the_others():
    train = torch.arange(4).repeat_interleave(100)
    held_out = torch.cat([torch.arange(3).repeat_interleave(50), torch.tensor([3])])
    places = alike(train, held_out, 1000, 0)
    assert train[places.train].bincount().tolist() == [100, 100, 100]
    assert held_out[places.held_out].bincount().tolist() == [50, 50, 50]


def test_every_record_is_in_half_of_the_shadows():
    labels = torch.tensor([0] * 7 + [1] * 5 + [2] * 4)
    inside = halves(labels, 8, 0)
    assert (inside.sum(dim=0) == 4).all()
    assert (inside[0] != inside[1]).all()
    for half in inside:
        counts = labels[half].bincount(minlength=3)
        assert ((2 * counts - labels.bincount()).abs() <= 1).all()
    assert (inside[0] != inside[2]).any()


def simulated(effect, seed, count=400):
    """Attacks by likelihood ratio and by threshold: records differ in difficulty more than by membership."""
    draws = generator(seed, "simulated")
    hard = 5 * torch.randn(count, generator=draws).double()
    member = torch.arange(count) < count // 2
    inside = halves(torch.zeros(count, dtype=torch.int64), 8, seed)
    noise = torch.randn(9, count, generator=draws).double()
    shadows, target = hard + effect * inside + noise[:8], hard + effect * member + noise[8]
    ratio = ratio_scores(target[None], shadows, inside)
    return attack(ratio[member], ratio[~member]), attack(target[member], target[~member])


def test_the_likelihood_ratio_tells_members_that_a_threshold_does_not():
    ratio, plain = simulated(1.5, seed=0)
    assert ratio.area.low > 0.6
    assert ratio.area.low > plain.area.value
    assert ratio.tells


def test_the_likelihood_ratio_tells_nobody_where_membership_moves_no_score():
    found = [simulated(0.0, seed)[0].area for seed in range(60)]
    assert sum(not area.low < 0.5 < area.high for area in found) <= 8
