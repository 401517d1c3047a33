#!/usr/bin/env python3
"""Print src/fam/xc/xc_fn_numbers.h: polynomials and derived numbers of the functionals' formulas.

usage: tools/xc_polynomials.py > src/fam/xc/xc_fn_numbers.h

The polynomials are near-minimax (Chebyshev interpolation in 60 digits); each line says the largest
error of the polynomial before its coefficients are rounded. Needs mpmath.
"""
import mpmath as mp

mp.mp.dps = 60
LOG_Z = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
ATAN_Z = mp.tan(mp.pi / 8) ** 2
EXP_R = mp.log(2) / 2 * mp.mpf("1.0001")


def log_tail(z):
    """(2 atanh(s) / s - 2) / z at z = s^2."""
    if z < 1e-15:
        return mp.mpf(2) / 3 + 2 * z / 5
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def atan_tail(z):
    """(atan(t) / t - 1) / z at z = t^2."""
    if z < 1e-15:
        return -mp.mpf(1) / 3 + z / 5
    t = mp.sqrt(z)
    return (mp.atan(t) / t - 1) / z


def exp_tail(r):
    """(e^r - 1 - r) / r^2."""
    if abs(r) < 1e-15:
        return mp.mpf(1) / 2 + r / 6
    return (mp.expm1(r) - r) / r ** 2


def polynomial(name, function, interval, counts, doc):
    """Two macros of nested multiply-adds, for double and float."""
    for suffix, count in zip(("f64", "f32"), counts):
        coefficients, error = mp.chebyfit(function, interval, count, error=True)
        text = number(coefficients[0], suffix)
        lines = []
        for c in coefficients[1:]:
            lines.append(number(c, suffix))
        print(f"/** {doc}; error {mp.nstr(error, 2)}. */")
        print(f"#define XC_{name}_{suffix}(x) \\")
        head = "".join(f"FMA_{suffix}(" for _ in lines)
        for part in wrap(head, 92):
            print(f"  {part} \\")
        body = [text] + [f", x, {c})" for c in lines]
        rows, row = [], "  "
        for piece in body:
            if len(row) + len(piece) > 92:
                rows.append(row)
                row = "  "
            row += piece.strip() if row == "  " else piece
        rows.append(row)
        print(" \\\n".join(rows))


def wrap(text, width):
    """Cut behind opening parentheses."""
    parts = text.split("(")[:-1]
    row = ""
    for part in parts:
        if len(row) + len(part) + 1 > width:
            yield row
            row = ""
        row += part + "("
    yield row


def number(x, suffix):
    """17 or 9 digits; the compiler rounds."""
    return mp.nstr(x, 20) if suffix == "f64" else mp.nstr(x, 11) + "f"


def vwn(name, doc, a, b, c, x0):
    """A, b, c, x0 and what follows from them."""
    b, c, x0 = mp.mpf(b), mp.mpf(c), mp.mpf(x0)
    q = mp.sqrt(4 * c - b * b)
    k = b * x0 / (x0 * x0 + b * x0 + c)
    t = 2 * b / q - k * 2 * (b + 2 * x0) / q
    values = [mp.nstr(mp.mpf(v), 20) for v in (a, b, c, x0, q, k, t)]
    print(f"/** {doc}: A, b, c, x0, Q, k, t. */")
    print(f"#define XC_{name}(R) \\")
    print("  (R)" + ", (R)".join(values[:4]) + ", \\")
    print("  (R)" + ", (R)".join(values[4:]))


def constant(name, value, doc):
    print(f"#define XC_{name} {mp.nstr(value, 20)} /**< {doc} */")


def main():
    print("""/**
 * @file xc_fn_numbers.h
 * Polynomials and derived numbers of xc_fn.h, printed by tools/xc_polynomials.py; do not edit.
 */
#ifndef TSL_FAM_XC_FN_NUMBERS_H
#define TSL_FAM_XC_FN_NUMBERS_H

/* clang-format off */""")
    polynomial("LOG_TAIL", log_tail, [0, LOG_Z], (7, 3), "(2 atanh(s)/s - 2)/z, z = s^2")
    polynomial("EXP_TAIL", exp_tail, [-EXP_R, EXP_R], (10, 5), "(e^r - 1 - r)/r^2")
    polynomial("ATAN_TAIL", atan_tail, [0, ATAN_Z], (11, 5), "(atan(t)/t - 1)/z, z = t^2")
    pi, third = mp.pi, mp.mpf(1) / 3
    vwn("VWN5_PARA", "VWN5 paramagnetic", "0.0310907", "3.72744", "12.9352", "-0.10498")
    vwn("VWN5_FERRO", "VWN5 ferromagnetic", "0.01554535", "7.06042", "18.0578", "-0.32500")
    vwn("VWN5_STIFF", "VWN5 spin stiffness over f''(0)",
        -1 / (6 * pi ** 2) * 9 * (mp.cbrt(2) - 1) / 4, "1.13107", "13.0045", "-0.0047584")
    vwn("VWNR_PARA", "VWN RPA paramagnetic", "0.0310907", "13.0720", "42.7198", "-0.409286")
    vwn("VWNR_FERRO", "VWN RPA ferromagnetic", "0.01554535", "20.1231", "101.578", "-0.743294")
    rs = mp.cbrt(3 / (4 * pi))
    constant("RS", rs, "(3/(4 pi))^(1/3)")
    constant("SLATER", mp.mpf(3) / 2 * rs, "exchange energy of a spin over n^(4/3), negative")
    constant("S2", 1 / (4 * (6 * pi ** 2) ** (2 * third)), "s^2 over sigma n^(-8/3) of a spin")
    constant("GAMMA", (1 - mp.log(2)) / pi ** 2, "of PBE correlation")
    constant("T2", 1 / (16 * mp.mpf(2) ** (2 * third) * rs), "t^2 phi^2 over sigma n^(-7/3)")
    constant("CF", mp.mpf(3) / 10 * (3 * pi ** 2) ** (2 * third), "of LYP")
    constant("CBRT2", mp.cbrt(2), "2^(1/3)")
    constant("CBRT_HALF", mp.cbrt(mp.mpf(1) / 2), "2^(-1/3)")
    constant("F_SCALE", 1 / (2 * mp.cbrt(2) - 2), "of f(zeta)")
    print("/* clang-format on */\n\n#endif")


main()
