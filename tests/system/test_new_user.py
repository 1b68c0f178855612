"""A new user's files and five queries, with not one word about answers: all of them verified, and a lie found in each."""

import random
from pathlib import Path

import pytest

from tests.conftest import run_here, summary
from tests.trials_here import no_null_engine, trials_here

pytestmark = pytest.mark.matrix

#: Each groups or has a window, as the engine that lies does so in these.
QUERIES = {
    "left-join": (
        "SELECT c.customer_id, COUNT(o.order_id) AS n FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id "
        "GROUP BY c.customer_id"
    ),
    "window": "SELECT order_id, SUM(amount) OVER (PARTITION BY customer_id ORDER BY placed, order_id) AS total FROM orders",
    "cte": (
        "WITH spent AS (SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id) "
        "SELECT c.city, AVG(s.total) AS mean FROM spent s JOIN customers c ON c.customer_id = s.customer_id "
        "GROUP BY c.city ORDER BY mean DESC, c.city LIMIT 3"
    ),
    "correlated": (
        "SELECT o.customer_id, COUNT(*) AS n FROM orders o "
        "WHERE o.amount > (SELECT AVG(p.amount) FROM orders p WHERE p.customer_id = o.customer_id) GROUP BY o.customer_id"
    ),
    "having": (
        "SELECT c.city, COUNT(*) AS n FROM customers c JOIN orders o ON o.customer_id = c.customer_id "
        "GROUP BY c.city HAVING COUNT(*) > 20"
    ),
}
ENGINES = ("sqlite", "duckdb", "postgresql")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, str]]:
    folder: Path = tmp_path_factory.mktemp("new")
    chance = random.Random(3)
    customers = [f"{number},{chance.choice(['Rome', 'Oslo', 'Bonn', 'Riga'])}" for number in range(1, 41)]
    orders = [
        f"{number},{chance.randint(1, 35)},{chance.randint(100, 9999) / 100:.2f},2025-01-{chance.randint(1, 28):02d}"
        for number in range(1, 401)
    ]
    (folder / "customers.csv").write_text("\n".join(["customer_id,city", *customers]))
    (folder / "orders.csv").write_text("\n".join(["order_id,customer_id,amount,placed", *orders]))
    run_here(folder, "import", "customers.csv", "orders.csv", "--suite", "shop.yaml", status=0)
    with (folder / "shop.yaml").open("a") as file:
        for name, sql in QUERIES.items():
            file.write(f"      - {{kind: query, name: {name}, title: {name}, sql: '{sql}'}}\n")
    chosen = [word for name in (*ENGINES, "faulty-always") for word in ("-e", name)]
    how = ("--rounds", "1", "--format", "csv,md", "--out", "run")
    with no_null_engine(), trials_here():
        run_here(folder, "suite", "shop.yaml", *how, *chosen, plugins=("faulty",), status=1)
    assert "Answer by DataFusion 55 from the same SQL." in (folder / "run" / "report" / "index.md").read_text()
    return summary(folder / "run")


@pytest.mark.parametrize("query", QUERIES)
def test_honest_engines_are_verified_and_a_lie_is_found(
    rows: dict[tuple[str, str], dict[str, str]], query: str
) -> None:
    assert {(rows[query, name]["outcome"], rows[query, name]["verified"]) for name in ENGINES} == {("ok", "yes")}
    assert rows[query, "faulty-always"]["outcome"] == "wrong"
