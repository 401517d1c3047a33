#!/usr/bin/env python3
"""Print tests/gpu/xc_functional_reference.h: values of libxc for hosts that lack it.

usage: tools/xc_functional_reference.py > tests/gpu/xc_functional_reference.h

Needs libxc's shared library (Debian: libxc9), which is called directly. The points are where libxc
itself is exact to 1e-11: densities 1e-4..1e2, reduced gradients up to 3, |zeta| up to 0.9.
"""
import ctypes
import ctypes.util
import math
import random

LIBRARY = ctypes.CDLL(ctypes.util.find_library("xc") or "libxc.so.9")
LIBRARY.xc_func_alloc.restype = ctypes.c_void_p
LIBRARY.xc_version_string.restype = ctypes.c_char_p
FUNCTIONALS = {  # in the order of XC_OWN_LIST
    "svwn5": ["lda_x", "lda_c_vwn"],
    "pbe": ["gga_x_pbe", "gga_c_pbe"],
    "blyp": ["gga_x_b88", "gga_c_lyp"],
    "pbe0": ["hyb_gga_xc_pbeh"],
    "b3lyp": ["hyb_gga_xc_b3lyp"],
    "b3lyp5": ["hyb_gga_xc_b3lyp5"],
}
POINTS = 12


def evaluate(name, na, nb, sigma):
    """e per volume, v_a, v_b, v_aa, v_ab, v_bb."""
    function = ctypes.c_void_p(LIBRARY.xc_func_alloc())
    number = LIBRARY.xc_functional_get_number(name.encode())
    if number <= 0 or LIBRARY.xc_func_init(function, number, 2) != 0:
        raise SystemExit(f"libxc has no {name}")
    rho, gradient = (ctypes.c_double * 2)(na, nb), (ctypes.c_double * 3)(*sigma)
    e, v, s = (ctypes.c_double * 1)(), (ctypes.c_double * 2)(), (ctypes.c_double * 3)()
    one = ctypes.c_size_t(1)
    if name.startswith("lda"):
        LIBRARY.xc_lda_exc_vxc(function, one, rho, e, v)
    else:
        LIBRARY.xc_gga_exc_vxc(function, one, rho, gradient, e, v, s)
    LIBRARY.xc_func_end(function)
    LIBRARY.xc_func_free(function)
    return [e[0] * (na + nb), v[0], v[1], s[0], s[1], s[2]]


def points():
    """na, nb, sigma_aa, sigma_ab, sigma_bb; every fourth point has equal spins."""
    source = random.Random(2017)
    for k in range(POINTS):
        n = 10 ** source.uniform(-4, 2)
        zeta = 0 if k % 4 == 0 else source.uniform(-0.9, 0.9)
        na, nb = n * (1 + zeta) / 2, n * (1 - zeta) / 2
        gradients = []
        for density in (na, nb):
            s = source.uniform(0, 3)
            gradients.append(2 * (6 * math.pi ** 2) ** (1 / 3) * density ** (4 / 3) * s)
        cosine = source.uniform(-0.9, 0.9)
        if k % 4 == 0:
            gradients[1], cosine = gradients[0], 1
        yield na, nb, [gradients[0] ** 2, cosine * gradients[0] * gradients[1], gradients[1] ** 2]


def main():
    version = LIBRARY.xc_version_string().decode()
    print(f"""/* Values of libxc {version}, printed by tools/xc_functional_reference.py; do not edit. */
#ifndef XC_FUNCTIONAL_REFERENCE_H
#define XC_FUNCTIONAL_REFERENCE_H

/** A place in XC_OWN_LIST; na, nb, sigma_aa, _ab, _bb; e, v_a, v_b, v_aa, v_ab, v_bb. */
typedef struct xc_reference {{
  int own;
  double in[5], out[6];
}} xc_reference;

static const xc_reference xc_references[] = {{
    /* clang-format off */""")
    for own, (name, parts) in enumerate(FUNCTIONALS.items()):
        print(f"    /* {name} */")
        for na, nb, sigma in points():
            out = [math.fsum(c) for c in zip(*(evaluate(part, na, nb, sigma) for part in parts))]
            a = ", ".join(f"{x:.17g}" for x in (na, nb))
            b = ", ".join(f"{x:.17g}" for x in sigma)
            c = ", ".join(f"{x:.17g}" for x in out[:3])
            d = ", ".join(f"{x:.17g}" for x in out[3:])
            print(f"    {{{own}, {{{a},\n      {b}}},\n     {{{c},\n      {d}}}}},")
    print("""    /* clang-format on */
};

#endif""")


main()
