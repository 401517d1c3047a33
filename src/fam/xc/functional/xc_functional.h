/**
 * @file xc_functional.h
 * Exchange-correlation functionals by name, and their values on blocks of points.
 *
 * A functional is a sum of parts of our own (xc_fn.h), of terms that libxc computes, and of a
 * fraction of exact exchange. Accepted texts, case and '-' or '_' alike:
 *
 *   svwn5, pbe, b3lyp, ...                 own formulas, one fused loop (XC_OWN_LIST)
 *   hyb_gga_xc_b3pw91, mgga_x_scan, ...    any LDA, GGA, meta-GGA of tau or hybrid of libxc, by its
 *   b3pw91, ...                            name; "hyb_gga_xc_", ... may be left out
 *   revPBE, BP86, B97-1, mPW1PW91, ...     names that people publish with (xc_published.h), blanks
 *                                          and hyphens or not: "B97 1", "b971"
 *   0.25*hf + 0.75*gga_x_pbe + gga_c_pbe   sums; hf is exact exchange
 *
 * Terms that have own formulas use them ("gga_x_pbe+gga_c_pbe" is pbe). b3lyp has the VWN fit to
 * the random-phase approximation, as in Gaussian and libxc; b3lyp5 has VWN5.
 * Functionals with VV10 (wB97M-V, B97M-V, ...) say so in `nonlocal`; the evaluator has the rest.
 * Refused by name, with what is lacking: functionals of the Laplacian, double hybrids and those
 * whose ranges Yukawa's function separates, functionals with other non-local correlation (rVV10,
 * vdW-DF) or a correction for dispersion, kinetic functionals, potentials without an energy, those
 * of one or two dimensions.
 */
#pragma once

#include "contract.h"
#include "xc_fn.h"
#include "xc_vv10.h"

TSL_C_BEGIN

enum {
  XC_NAME = 64,     /**< longest name with its zero, of libxc too */
  XC_TEXT = 256,    /**< longest text of a functional with its zero */
  XC_MAX_TERMS = 8, /**< terms that libxc computes */
  XC_BLOCK = 128    /**< points that pass through scratch memory at once */
};

/** Who computes. */
typedef enum xc_source {
  XC_SOURCE_AUTO, /**< own formulas where there are any, libxc for the rest */
  XC_SOURCE_OWN,  /**< own formulas; an error where there are none */
  XC_SOURCE_LIBXC /**< libxc for every term */
} xc_source;

/** A term that libxc computes. */
typedef struct xc_term {
  double weight;
  char name[XC_NAME]; /**< libxc's */
} xc_term;

/** What a functional is: plain data, sent between ranks as bytes. */
typedef struct xc_functional {
  char name[XC_TEXT]; /**< as asked for */
  int32_t gga;        /**< 1: depends on sigma; meta-GGAs do */
  int32_t own;        /**< XC_OWN_pbe, ... when the parts are exactly that mix; else -1 */
  int32_t n_terms;    /**< 0: own formulas alone, also on cards */
  int32_t tau;        /**< 1: depends on tau too */
  double exchange;    /**< fraction of exact exchange; range-separated: of 1 / r */
  double far;         /**< range-separated: that of erf(omega r) / r beside it; else 0 */
  double omega;       /**< 1 / bohr */
  xc_vv10 nonlocal;   /**< of functionals that carry it (b: 0: none); on points of its own */
  xc_mix mix;         /**< weights of the own parts */
  xc_term terms[XC_MAX_TERMS];
} xc_functional;

/** Is there exact exchange? */
static inline bool xc_functional_exact(const xc_functional *f) {
  return f->exchange != 0 || f->far != 0;
}

/** What the matrix K is multiplied with: range-separated it has its fractions in it. */
static inline double xc_functional_share(const xc_functional *f) {
  return f->far != 0 ? 1 : f->exchange;
}

/**
 * Find out what a text means.
 * @param[in]  text  see above; fewer than XC_TEXT bytes
 * @param[out] out   filled; zero on error
 * @return TSL_ERR_INPUT for an unknown name (with the nearest ones), a refused kind of functional,
 *         a bad number, too many terms; for a libxc functional in a build without libxc
 */
tsl_err xc_functional_find(const char *text, xc_source source, xc_functional *out);

/** What it consists of, as "0.2*hf + 0.08*lda_x + ..."; returns text. */
const char *xc_functional_text(const xc_functional *functional, char text[XC_TEXT]);

/**
 * Points and what is wanted at them: arrays of n doubles each, owned by the caller, apart.
 * Spin-restricted (n_spins 1): rho[0], sigma[0], tau[0] -> e, vrho[0], vsigma[0], vtau[0], of the
 * total density. Spin-polarised (n_spins 2): rho[a, b], sigma[aa, ab, bb], tau[a, b] -> e,
 * vrho[a, b], vsigma[aa, ab, bb], vtau[a, b].
 * Local functionals: sigma and vsigma may be NULL, others than meta-GGAs: tau and vtau; a vsigma or
 * vtau that is there is set to 0.
 */
typedef struct xc_points {
  int64_t n;
  const double *rho[2];   /**< electrons / bohr^3 */
  const double *sigma[3]; /**< electrons^2 / bohr^8 */
  const double *tau[2];   /**< sum of |grad orbital|^2 / 2, hartree / bohr^3 */
  double *e;              /**< energy per volume, hartree / bohr^3 */
  double *vrho[2];        /**< de/drho, hartree */
  double *vsigma[3];      /**< de/dsigma */
  double *vtau[2];        /**< de/dtau */
} xc_points;

/** A functional ready to be computed on this host. */
typedef struct xc_evaluator xc_evaluator;

/**
 * Prepare a functional.
 * @param[in]  n_spins  1 or 2
 * @param[in]  level    SIMD level of the host: 2, 3, 4 for x86-64-v2..v4, 0 on other processors
 *                      (tsl_device.capability); 1: built scalar (for x86-64-v3), to measure
 *                      against
 * @param[out] out      free with xc_evaluator_destroy
 * @return TSL_ERR_INPUT when libxc here lacks a term; TSL_ERR_MEMORY
 */
tsl_err xc_evaluator_create(const xc_functional *functional, int n_spins, int level,
                            xc_evaluator **out);

/** NULL accepted, sets NULL. */
void xc_evaluator_destroy(xc_evaluator **evaluator);

/**
 * Compute the functional at points. Threads: an evaluator may be used by many at once.
 * Values of a point depend on that point alone. Costs per point and core, own formulas at level 4:
 * pbe 13 ns restricted, 23 ns polarised.
 * Numerics: within 1e-11 of libxc 5.2 relative to the value, where libxc itself is that exact;
 * thresholds as in xc_fn.h.
 */
void xc_evaluate(const xc_evaluator *evaluator, const xc_points *points);

TSL_C_END
