/* The cards of this host: how many, what they are, which one this thread uses. */
#include "assist.h"
#include "backends_gpu.h"
#include "bench_gpu.cuh"
#include "gpu.cuh"
#include "gpu_linalg.cuh"
#include "probe_gpu.cuh"
#ifdef TSL_HAVE_XC
#include "xc_gpu_shares.cuh"
#endif

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int gpu_count(const char **why) {
  int n = 0;
  const cudaError_t status = cudaGetDeviceCount(&n);
  *why = NULL;
  if (status == cudaSuccess && n > 0) return n;
  (void)cudaGetLastError();
  if (status == cudaErrorInsufficientDriver)
    *why = "no NVIDIA driver, or one older than this program's CUDA";
  else if (status == cudaErrorNoDevice || status == cudaSuccess)
    *why = "no NVIDIA card is visible (see nvidia-smi and CUDA_VISIBLE_DEVICES)";
  else
    *why = cudaGetErrorString(status);
  return 0;
}

/* "GPU-" and the UUID in groups of 4-2-2-2-6 bytes, as nvidia-smi prints it. */
static void print_uuid(const cudaUUID_t *uuid, char *text, size_t bytes) {
  const unsigned char *b = (const unsigned char *)uuid->bytes;
  (void)snprintf(text, bytes,
                 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                 b[14], b[15]);
}

/* NUMA node of a PCI device as Linux knows it, or -1. */
static int numa_node(const char *pci) {
  char path[96], small[24];
  int node = -1;
  size_t c = 0;
  FILE *file = NULL;
  for (; pci[c] != '\0' && c + 1 < sizeof small; c++)
    small[c] = (char)tolower((unsigned char)pci[c]);
  small[c] = '\0';
  (void)snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", small);
  file = fopen(path, "r");
  if (file == NULL) return -1;
  if (fscanf(file, "%d", &node) != 1) node = -1;
  (void)fclose(file);
  return node < 0 ? -1 : node;
}

static tsl_err gpu_describe(int index, tsl_device *device) {
  tsl_err err = TSL_OK;
  int driver = 0, runtime = 0;
  cudaDeviceProp properties;
  memset(device, 0, sizeof *device);
  TSL_CUDA_TRY(cudaGetDeviceProperties(&properties, index));
  TSL_CUDA_TRY(cudaDriverGetVersion(&driver));
  TSL_CUDA_TRY(cudaRuntimeGetVersion(&runtime));
  TSL_CUDA_TRY(cudaDeviceGetPCIBusId(device->pci, (int)sizeof device->pci, index));
  device->kind = TSL_GPU;
  device->index = index;
  (void)snprintf(device->name, sizeof device->name, "%.79s", properties.name);
  print_uuid(&properties.uuid, device->id, sizeof device->id);
  device->numa = numa_node(device->pci);
  device->processors = properties.multiProcessorCount;
  device->capability = 10 * properties.major + properties.minor;
  device->memory = (int64_t)properties.totalGlobalMem;
  (void)snprintf(device->driver, sizeof device->driver, "CUDA driver %d.%d, runtime %d.%d",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
done:
  return err;
}

static tsl_err gpu_select(tsl_device *device) {
  tsl_err err = TSL_OK;
  size_t n_free = 0, n_total = 0;
  tsl_gpu_name_card(device->id);
  TSL_CUDA_TRY(cudaSetDevice(device->index));
  TSL_CUDA_TRY(cudaMemGetInfo(&n_free, &n_total)); /* makes the context, too */
  tsl_device_has_free(device, (int64_t)n_free);
done:
  return err;
}

extern "C" const tsl_assistant tsl_gpu_assistants[] = {
#ifdef TSL_HAVE_XC
    {"xc.weights", xc_shares_take},
#endif
    {NULL, NULL}};

static const tsl_backend *const gpu_backends[] = {TSL_BACKENDS};

extern "C" const tsl_platform tsl_platform_gpu = {
    .kind = TSL_GPU,
    .name = "gpu",
    .backends = gpu_backends,
    .benches = tsl_gpu_benches,
    .count = gpu_count,
    .describe = gpu_describe,
    .select = gpu_select,
    .probe = tsl_gpu_probe,
    .linalg = tsl_gpu_linalg,
};
