/* The platform of a build without CUDA: no cards, and the reason why. */
#include "assist.h"
#include "contract.h"

static int none_count(const char **why) {
  *why = "this program was built without CUDA (configure with -DTSL_CUDA=ON)";
  return 0;
}

const tsl_assistant tsl_gpu_assistants[] = {{NULL, NULL}};

static const tsl_backend *const none_backends[] = {NULL};

const tsl_platform tsl_platform_gpu = {
    .kind = TSL_GPU,
    .name = "gpu",
    .backends = none_backends,
    .count = none_count,
};
