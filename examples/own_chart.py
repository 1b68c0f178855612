"""One's own chart from a run directory: `python examples/own_chart.py RUN chart.png` (needs the extra `frames`)."""

import sys

import matplotlib as mpl

import dbbench


def main(run: str, out: str) -> None:
    """Draw the medians of three engines as a dark chart, times slower than the best."""
    frame = dbbench.open_run(run).summary()
    timed = frame[(frame["unit"] == "s") & ~frame["is_null"] & (frame["outcome"] == "ok")]
    ratios = timed.pivot_table(index="step", columns="engine", values="ratio", sort=False)
    engines = ratios.mean().sort_values().index[:3]
    print(ratios[engines].round(2).to_string())
    mpl.use("agg")
    import matplotlib.pyplot as plt

    with plt.style.context("dark_background"):
        figure, axes = plt.subplots(figsize=(7, 4))
        for engine, marker in zip(engines, "osD", strict=False):
            axes.plot(ratios[engine], ratios.index, marker, markersize=8, label=engine)
        axes.set(xscale="log", xlabel="times slower than the best (log scale)", title="Three engines, step by step")
        axes.xaxis.set_major_formatter("×{x:g}")
        axes.invert_yaxis()
        axes.grid(alpha=0.3)
        axes.legend()
        figure.savefig(out, dpi=144, bbox_inches="tight")


if __name__ == "__main__":
    main(*sys.argv[1:3])
