/* Gradients on a card's rank: the backend of sockets has their phases, on the rank's threads. */
#include "xc_gpu.cuh"

#include "xc_gpu_host.h"

static tsl_err open_host(xc_gpu *w) {
  tsl_err err = TSL_OK;
  tsl_device device = {};
  device.kind = TSL_CPU;
  device.threads = w->threads;
  device.memory_limit = w->host_limit;
  xc_batches_close(&w->batches);
  w->sockets = tsl_backend_find(&tsl_platform_cpu, w->problem->family->name);
  if (w->sockets == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "this build computes no gradients: it has no backend for sockets");
  TSL_TRY(w->sockets->open(w->problem, &device, &w->host));
done:
  return err;
}

tsl_err xc_host_worker_begin(xc_gpu *w, int phase) {
  tsl_err err = TSL_OK;
  if (w->host == NULL) TSL_TRY(open_host(w));
  TSL_TRY(w->sockets->begin(w->host, phase));
done:
  return err;
}

void xc_host_worker_close(xc_gpu *w) {
  if (w->host != NULL) w->sockets->close(&w->host);
}
