"""Read what test_out_h5 wrote. Exit status 77: no h5py."""
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

with h5py.File(sys.argv[1], "r") as f:
    run, results = f["run"], f["results"]
    assert f.attrs["tesela_format"] == 1
    assert run.attrs["title"] == "größe" and run.attrs["git_hash"] == ""
    assert run.attrs["verdict"] == "INVALID" and run.attrs["reason"] == "made up"
    assert run.attrs["imbalance"] == 0.03 and run.attrs["ranks"] >= 1
    assert run["deck"].asstr()[()] == "family: tri\n"
    assert results.attrs["energy"] == -1.5 and results.attrs["energy_unit"] == "hartree"
    assert np.array_equal(results["line"][:], np.arange(1000, dtype="f4"))
    assert results["line"].attrs["unit"] == "m" and "row-major" in results["line"].attrs["order"]
    assert results["line"].attrs["quantity"] == "depth" and "quantity" not in results["counts"].attrs
    assert list(results["counts"]) == [10, 20, 30]
    assert list(results["counts"].dims[0]["edges"]) == [0, 0.5, 1, 1.5]
    assert results["counts"].dims[0].label == "edges"
    assert f["results/edges"].attrs["CLASS"] == b"DIMENSION_SCALE"
    assert np.array_equal(results["line"].dims[0]["place"][:], 0.5 * np.arange(1000))
    assert results["line"].dims[0].label == "place"
    assert f["input/place"].attrs["CLASS"] == b"DIMENSION_SCALE"
    assert f["input/points"][1, 2] == 6
    machine = run["machine"]
    assert machine[0]["host"] == b"n1" and machine[0]["threads"] == 4
    assert machine[1]["kind"] == 1 and machine[1]["id"] == b"GPU-1" and machine[1]["memory"] == 5
    assert machine.attrs["memory_unit"] == "B"
    units = run["units"]
    assert list(units["id"]) == [0, 1, 2, 3, 4] and list(units["hi0"]) == [0, 1, 2, 3, 4]
    assert units[4]["measured"] == 2 and units.attrs["measured_unit"] == "s"
    assert run["calibration"][0]["term"] == b"flops"
