/**
 * @file xc_functional_own.h
 * What the files of xc_functional share: kernels of own formulas, and the door to libxc.
 */
#pragma once

#include "xc_functional.h"
#include "xc_published.h"

/** The weights of a mix as a list in the order of XC_PART_LIST. */
static inline double *xc_mix_list(xc_mix *mix) {
  _Static_assert(sizeof(xc_mix) == XC_N_PARTS * sizeof(double), "a mix is a list of weights");
  return (double *)mix;
}

/* ------------------------------------------------------------------ names */

/**
 * Add weight times one name to a functional.
 * @param[in] name  lower case, '_' for '-'
 * @return TSL_ERR_INPUT for an unknown or refused name
 */
tsl_err xc_name_add(double weight, const char *name, xc_functional *functional);

/** Does a name mean something, be it refused or not? name as for xc_name_add. */
bool xc_name_known(const char *name);

/**
 * Add weight times a sum of names: the grammar of xc_functional_find.
 * @return TSL_ERR_INPUT as xc_functional_find
 */
tsl_err xc_sum_add(double weight, const char *text, xc_functional *functional);

/** A name in the form of xc_name_add: lower case, '_' for '-'; other characters as they are. */
void xc_name_fold(const char *name, char out[XC_NAME]);

/** Letters and digits of a name alone, in lower case: equal for all ways to write it. */
void xc_squeeze(const char *name, char out[XC_NAME]);

/** A name that people publish with. */
typedef struct xc_published {
  const char *name;
  const char *sum;     /**< what it is; NULL when it is refused */
  unsigned lacks;      /**< why: bits XC_LACKS_.. */
  const char *choices; /**< or what to write, where it is the name of several */
} xc_published;

/** All n rows of xc_published.h. */
const xc_published *xc_published_rows(int *n);

/** The row of a name, whatever its case, hyphens and blanks; NULL when there is none. */
const xc_published *xc_published_find(const char *name);

/** "range-separated exact exchange and a correction for dispersion"; returns text. */
const char *xc_lacks_text(unsigned lacks, char text[XC_TEXT]);

/** Place in XC_OWN_LIST of exactly these weights, or -1. */
int xc_own_of(const xc_mix *mix);

/** Name of an own functional, by its place in XC_OWN_LIST; NULL for -1. */
const char *xc_own_name(int own);

/** libxc's name of a part, and whether it depends on sigma and tau. */
const char *xc_part_name(int part, int *gga, int *tau);

/* ---------------------------------------------------------------- kernels */

/** Spin-restricted and spin-polarised loops over points; what they do not depend on is ignored. */
typedef struct xc_kernel {
  void (*rks)(const xc_points *points);
  void (*uks)(const xc_points *points);
  int gga, tau;
} xc_kernel;

/** The same loops compiled for one SIMD level; bits are the same on levels 3 and 4. */
typedef struct xc_kernels {
  xc_kernel own[XC_N_OWN];    /**< functionals of XC_OWN_LIST */
  xc_kernel part[XC_N_PARTS]; /**< a part with weight 1 */
} xc_kernels;

/** The kernels for an x86-64 level (2, 3, 4; 1: scalar). Made by tsl_simd
 *  (tools/cmake/TslSimd.cmake). */
const xc_kernels *xc_kernels_at(int level);

/* ------------------------------------------------------------------ libxc */

/** What a functional of libxc is. */
typedef enum xc_kind {
  XC_KIND_GOOD,
  XC_KIND_LAPLACIAN,
  XC_KIND_YUKAWA,
  XC_KIND_KINETIC,
  XC_KIND_NO_ENERGY,
  XC_KIND_DIMENSION,
  XC_KIND_OTHER
} xc_kind;

typedef struct xc_library_info {
  xc_kind kind;
  int gga, tau;
  double exchange;     /**< fraction of exact exchange, of 1 / r */
  double far, omega;   /**< of erf(omega r) / r beside it; 0, 0: not range-separated */
  xc_vv10 nonlocal;    /**< b 0: none */
  char title[XC_NAME]; /**< such as "M06-2X" */
} xc_library_info;

/** Arrays of n points: rho, tau [n][1], sigma [n][1]; polarised [n][2] and [n][3]. */
typedef struct xc_library_in {
  const double *rho, *sigma, *tau;
} xc_library_in;

/** Likewise; e [n], per particle. */
typedef struct xc_library_out {
  double *e, *vrho, *vsigma, *vtau;
} xc_library_out;

/** libxc behind a door: xc_functional_libxc.c, or xc_functional_none.c in a build without it. */
typedef struct xc_library {
  /** Version text; NULL when this build has no libxc. */
  const char *(*version)(void);
  /** Is the name one of libxc's? Fills info when it is. */
  bool (*find)(const char *name, xc_library_info *info);
  /** All names, NULL-ended, from tsl_alloc in one piece; free with tsl_free. */
  tsl_err (*names)(const char ***out);
  /** Prepare a functional; close takes NULL. */
  tsl_err (*open)(const char *name, int n_spins, void **handle);
  void (*close)(void *handle);
  /**
   * Values at n points in libxc's order, spins innermost.
   * @param[in]  in   as below; what the functional does not depend on is ignored
   * @param[out] out  likewise; 0 of what it does not depend on
   */
  void (*eval)(const void *handle, int64_t n, const xc_library_in *in, const xc_library_out *out);
} xc_library;

extern const xc_library xc_library_libxc;
