"""All works that `make bench` times, by their names."""

from benchmarks.ratios import bilevel_steps, cat_step, image_steps, quantiles, statistic
from benchmarks.ratios.timing import Work

WORKS: dict[str, Work] = {
    "dm": image_steps.DM_STEP,
    "dm-bf16": image_steps.DM_STEP_IN_BF16,
    "idm": image_steps.IDM_STEP,
    "datadam": image_steps.DATADAM_STEP,
    **bilevel_steps.STEPS,
    "evaluation": image_steps.EVALUATION,
    "evaluation-bf16": image_steps.EVALUATION_IN_BF16,
    "evaluations": image_steps.EVALUATIONS,
    "quantiles": quantiles.WORK,
    "statistic": statistic.WORK,
    "lqm": image_steps.LQM_AT_CIFAR_SHAPES,
    "lqm-digits": image_steps.LQM_ON_DIGITS,
    "cat": cat_step.TASK,
    "cat-stream": cat_step.STREAM,
    "cat-sharing": cat_step.SHARING,
}
