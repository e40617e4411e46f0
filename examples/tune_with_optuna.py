"""Tune on a condensed set, retrain the best on all data: `python examples/tune_with_optuna.py runs/tuned`.

The set is made by `lqm.condense("digits", validation=True, out="runs/tuned")`: without the images that
configurations are scored on. A second word is the number of trials.
"""

import sys

import optuna

import lqm

condensed = lqm.load(sys.argv[1])
source = lqm.load_source(**condensed.manifest["origin"])  # read once, for all trials


def configuration(trial):
    """A network, and how it is trained."""
    width, depth = trial.suggest_categorical("width", [8, 16, 32]), trial.suggest_int("depth", 1, 3)
    return {
        "network": f"convnet:width={width}:depth={depth}",
        "learning_rate": trial.suggest_float("learning_rate", 1e-3, 0.3, log=True),
        "weight_decay": trial.suggest_categorical("weight_decay", [0.0, 5e-4, 5e-3]),
        "epochs": 30,
    }


def accuracy(trial):
    """On validation images, after training on the condensed ones."""
    return tried([configuration(trial)]).accuracies[0]


def tried(configurations):
    """What the condensed set says of them."""
    return lqm.proxy(condensed, configurations, source=source, repeats=1, show_progress=False)


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
study.optimize(accuracy, n_trials=int(sys.argv[2]) if len(sys.argv) > 2 else 30)
best = tried([configuration(study.best_trial)])  # from the cache
print(f"{len(study.trials)} trials on {best.records} condensed images; best on validation images:")
print(f"  {best.ranked[0].words}: {best.ranked[0].accuracy:.1%}")
final = best.retrain()  # the test images are used here, once
print(f"the same on all {final.records:,} images: {final.accuracy:.1%} of the test images right")
