"""Condense a feature matrix in a pipeline of scikit-learn: python examples/condense_table_sklearn.py.

Logistic regression learns from 5 rows of each class in place of 426, and is tested on rows that
neither it nor the condensation has seen. `X` may be any table of numbers, or embeddings.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lqm.sklearn import Condenser

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)


def accuracy(rows, labels):
    """Of logistic regression that learns from these rows, on the test rows."""
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels).score(X_test, y_test)


for method in ("random", "herding", "k-means", "dm"):
    condenser = Condenser(per_class=5, method=method, random_state=0)
    rows, labels = condenser.fit_resample(X_train, y_train)
    print(f"{method:8} {len(rows):3} rows  {accuracy(rows, labels):.1%}")
print(f"all      {len(X_train):3} rows  {accuracy(X_train, y_train):.1%}")
