/* The platform of a build without CUDA: no cards, and the reason why. */
#include "contract.h"

static int none_count(const char **why) {
  *why = "this program was built without CUDA (configure with -DTSL_CUDA=ON)";
  return 0;
}

static tsl_err none_describe(int index, tsl_device *device) {
  (void)device;
  return tsl_fail(TSL_ERR_DEVICE, __FILE__, __LINE__,
                  "card %d: this program was built without CUDA", index);
}

static tsl_err none_select(tsl_device *device) {
  return tsl_fail(TSL_ERR_DEVICE, __FILE__, __LINE__,
                  "card %s: this program was built without CUDA", device->id);
}

static const tsl_backend *const none_backends[] = {NULL};

const tsl_platform tsl_platform_gpu = {
    .kind = TSL_GPU,
    .name = "gpu",
    .backends = none_backends,
    .count = none_count,
    .describe = none_describe,
    .select = none_select,
};
