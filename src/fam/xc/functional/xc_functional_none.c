/** @file xc_functional_none.c  A build without libxc: it has no functional, and says so. */
#include "xc_functional_own.h"

static const char *version(void) {
  return NULL;
}

static bool xc_functional_none_find(const char *name, xc_library_info *info) {
  (void)name;
  (void)info;
  return false;
}

static tsl_err names(const char ***out) {
  return tsl_alloc(1, sizeof **out, "names of libxc", (void **)out);
}

static tsl_err open_one(const char *name, int n_spins, void **handle) {
  tsl_err err = TSL_OK;
  (void)n_spins;
  *handle = NULL;
  TSL_FAIL(TSL_ERR_INPUT, "functional '%s': this build lacks libxc", name);
done:
  return err;
}

static void close_one(void *handle) {
  (void)handle;
}

/** Not reached: open_one gives no handle. */
static void eval(const void *handle, int64_t n, const xc_library_in *in,
                 const xc_library_out *out) {
  (void)handle, (void)n, (void)in, (void)out;
}

const xc_library xc_library_libxc = {
    .version = version,
    .find = xc_functional_none_find,
    .names = names,
    .open = open_one,
    .close = close_one,
    .eval = eval,
};
