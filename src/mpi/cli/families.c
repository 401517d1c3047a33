/* The list of families; the one place that turns families.def into symbols. */
#include "contract.h"

#define TSL_FAMILY(name) extern const tsl_family tsl_family_##name;
#include "families.def"
#undef TSL_FAMILY

const tsl_family *const tsl_families[] = {
#define TSL_FAMILY(name) &tsl_family_##name,
#include "families.def"
#undef TSL_FAMILY
    NULL};
