"""What a request for continual learning comes to: its graph, the tasks, and how they are learned."""

from lqm.api.planning import chosen_distance, open_sketch
from lqm.api.requests import ContinualRequest
from lqm.engine import recorded
from lqm.graphs.continual import CONTINUAL_METHODS, ContinualPlan, check_request, plan_continual
from lqm.graphs.domain import GRAPHS, graph_recipe, stream_options
from lqm.graphs.stream import make_stream
from lqm.utils.memory import memory_for_reading
from lqm.utils.names import choose
from lqm.utils.old_names import begun_with, current_settings


def plan_stream(request: ContinualRequest) -> ContinualPlan:
    """The stream of a request, ready to be learned."""
    matched = chosen_distance(request.distance)
    before = recorded(request.out)
    known = choose(request.method, CONTINUAL_METHODS, "continual method").setting_names
    given = current_settings(request.settings or {})
    settings = begun_with(before, request.method, known) | given
    checked = check_request(request.method, matched, request.budget, settings, request.scoring)
    sketch = open_sketch(request.sketch, before["config"])
    with memory_for_reading(request.source):
        data = GRAPHS.load(request)
    if request.recipe is not None:
        recipe = graph_recipe(data, request.recipe, request.method)
        settings = recipe.stream_settings | given
        checked = check_request(request.method, matched, request.budget, settings, request.scoring)
    words = stream_options(request)
    return plan_continual(checked, data, make_stream(data, **words), request.seed, words, sketch)
