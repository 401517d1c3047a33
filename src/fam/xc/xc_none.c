/* The family xc of a build without its libraries: it says so. */
#include "contract.h"

static const tsl_key no_keys[] = {{0}};

static tsl_err refuse(tsl_deck *deck, tsl_problem *problem) {
  (void)deck, (void)problem;
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                  "this build has no family xc: libint2, LAPACKE and jansson were not all there; "
                  "tools/install-deps installs them, then build again");
}

static tsl_err no_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  (void)problem, (void)limits;
  *units = (tsl_units){0};
  return TSL_OK;
}

extern const tsl_family tsl_family_xc;
const tsl_family tsl_family_xc = {
    .name = "xc",
    .doc = "Kohn-Sham energies of molecules (this build lacks the libraries for it).",
    .shape = TSL_BAG,
    .n_kinds = 1,
    .keys = no_keys,
    .create = refuse,
    .units = no_units,
};
