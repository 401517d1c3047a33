/** @file xc_functional_libxc.c  Functionals of libxc; the only file that sees its header. */
#include "xc_functional_own.h"

#include <stdio.h>
#include <string.h>
#include <xc.h>

static const char *version(void) {
  return xc_version_string();
}

/** libxc prints no message and fails for numbers it does not know. */
static bool start(const char *name, int n_spins, xc_func_type *out) {
  const int number = xc_functional_get_number(name);
  return number > 0 && xc_func_init(out, number, n_spins) == 0;
}

static int is_mgga(const xc_func_type *f) {
  const int family = xc_func_info_get_family(f->info);
  return family == XC_FAMILY_MGGA || family == XC_FAMILY_HYB_MGGA;
}

static int is_gga(const xc_func_type *f) {
  const int family = xc_func_info_get_family(f->info);
  return family == XC_FAMILY_GGA || family == XC_FAMILY_HYB_GGA;
}

/* Functionals of these kinds need more than rho and sigma, or give less than an energy. */
static xc_kind kind_of(const xc_func_type *f) {
  const int family = xc_func_info_get_family(f->info), flags = xc_func_info_get_flags(f->info);
  const int yukawa = XC_FLAGS_HYB_CAMY | XC_FLAGS_HYB_LCY;
  if (family != XC_FAMILY_LDA && family != XC_FAMILY_GGA && family != XC_FAMILY_MGGA &&
      family != XC_FAMILY_HYB_LDA && family != XC_FAMILY_HYB_GGA && family != XC_FAMILY_HYB_MGGA)
    return XC_KIND_OTHER;
  if (xc_func_info_get_kind(f->info) == XC_KINETIC) return XC_KIND_KINETIC;
  if ((flags & XC_FLAGS_3D) == 0) return XC_KIND_DIMENSION;
  if ((flags & yukawa) != 0) return XC_KIND_YUKAWA;
  if ((flags & XC_FLAGS_HAVE_EXC) == 0 || (flags & XC_FLAGS_HAVE_VXC) == 0)
    return XC_KIND_NO_ENERGY;
  return (flags & XC_FLAGS_NEEDS_LAPLACIAN) != 0 ? XC_KIND_LAPLACIAN : XC_KIND_GOOD;
}

static bool xc_functional_libxc_find(const char *name, xc_library_info *info) {
  xc_func_type f;
  if (!start(name, XC_UNPOLARIZED, &f)) return false;
  memset(info, 0, sizeof *info);
  info->kind = kind_of(&f);
  info->gga = is_gga(&f) || is_mgga(&f);
  info->tau = is_mgga(&f);
  info->exchange = f.cam_alpha + f.cam_beta; /* alpha is of 1 / r, beta of erfc(omega r) / r */
  info->far = -f.cam_beta;
  info->nonlocal = (xc_vv10){f.nlc_b, f.nlc_C};
  info->omega = f.cam_beta != 0 ? f.cam_omega : 0; /* M11-L is local and has one, too */
  (void)snprintf(info->title, sizeof info->title, "%s", xc_func_info_get_name(f.info));
  xc_func_end(&f);
  return true;
}

/** The pointers and then the texts, in one piece. */
static tsl_err names(const char ***out) {
  tsl_err err = TSL_OK;
  const int64_t n = xc_number_of_functionals(), width = (int64_t)xc_maximum_name_length() + 1;
  char **list = NULL;
  *out = NULL;
  TSL_TRY(
      tsl_alloc((n + 1) * (int64_t)sizeof *list + n * width, 1, "names of libxc", (void **)&list));
  for (int64_t i = 0; i < n; i++) list[i] = (char *)(list + n + 1) + i * width;
  xc_available_functional_names(list);
  *out = (const char **)list;
done:
  return err;
}

static tsl_err open_one(const char *name, int n_spins, void **handle) {
  tsl_err err = TSL_OK;
  xc_func_type *f = NULL;
  *handle = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *f, "functional of libxc", (void **)&f));
  if (!start(name, n_spins == 1 ? XC_UNPOLARIZED : XC_POLARIZED, f))
    TSL_FAIL(TSL_ERR_INPUT, "libxc %s on this host has no functional '%s'", version(), name);
  *handle = f;
  f = NULL;
done:
  tsl_free(f);
  return err;
}

static void close_one(void *handle) {
  if (handle == NULL) return;
  xc_func_end(handle);
  tsl_free(handle);
}

/** Meta-GGAs of libxc want a Laplacian, too; those that are taken do not depend on it. */
static void eval_mgga(const xc_func_type *f, int64_t n, const xc_library_in *in,
                      const xc_library_out *out) {
  double none[2 * XC_BLOCK] = {0}, ignored[2 * XC_BLOCK];
  const int spins = f->nspin == XC_POLARIZED ? 2 : 1, sigmas = 2 * spins - 1;
  for (int64_t at = 0; at < n; at += XC_BLOCK) {
    const int64_t count = n - at < XC_BLOCK ? n - at : XC_BLOCK;
    xc_mgga_exc_vxc(f, (size_t)count, in->rho + spins * at, in->sigma + sigmas * at, none,
                    in->tau + spins * at, out->e + at, out->vrho + spins * at,
                    out->vsigma + sigmas * at, ignored, out->vtau + spins * at);
  }
}

static void eval(const void *handle, int64_t n, const xc_library_in *in,
                 const xc_library_out *out) {
  const xc_func_type *const f = handle;
  const size_t spins = f->nspin == XC_POLARIZED ? 2 : 1, sigmas = 2 * spins - 1;
  if (is_mgga(f)) {
    eval_mgga(f, n, in, out);
    return;
  }
  memset(out->vtau, 0, (size_t)n * spins * sizeof *out->vtau);
  if (is_gga(f)) {
    xc_gga_exc_vxc(f, (size_t)n, in->rho, in->sigma, out->e, out->vrho, out->vsigma);
    return;
  }
  xc_lda_exc_vxc(f, (size_t)n, in->rho, out->e, out->vrho);
  memset(out->vsigma, 0, (size_t)n * sigmas * sizeof *out->vsigma);
}

const xc_library xc_library_libxc = {
    .version = version,
    .find = xc_functional_libxc_find,
    .names = names,
    .open = open_one,
    .close = close_one,
    .eval = eval,
};
