"""Figures that tesela is to reach: by system and test, (value, lower, upper, unit) of a figure.

It fails below value * (1 + lower) or above value * (1 + upper); None: no bound. A figure that is not here is measured
and printed, not judged. To add a system, run the tests on quiet nodes of it and copy what ReFrame reports.
"here:sockets" is any host, so it has ratios to other code of the same run alone, within wide bounds.
"""

REFERENCES = {
    "here:sockets": {
        "dp-cpu": {"a deck's recurrence: LCS, i32, ratio": (1.8, -0.8, None, "1")},
        "tri-cpu": {"Gaussian sum by equation, ratio": (0.95, -0.5, None, "1")},
        "fractal-cpu": {"auto / best schedule, 1024": (60, -0.8, None, "x")},
    },
}
