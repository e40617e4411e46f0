"""What a condensed set is worth: protocols, scores and their cache, latent statistics, comparisons.

Nothing in here knows images or graphs: what differs between them is handed in as an `Evaluator`.
"""
