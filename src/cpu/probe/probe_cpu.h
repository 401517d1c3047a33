/**
 * @file probe_cpu.h
 * What `tesela probe` measures on a socket, private to src/cpu.
 */
#pragma once

#include "cpu.h"
#include "probe.h"

/** All figures of a socket, with its threads; about two seconds. */
tsl_err tsl_cpu_probe(const tsl_device *device, tsl_figures *figures);

/** Chains of dependent multiply-adds, `rounds` long. @return floating-point operations done */
double tsl_cpu_fma_f64(int64_t rounds, double *result);
double tsl_cpu_fma_f32(int64_t rounds, double *result);

/** Groups of figures. */
tsl_err tsl_cpu_probe_memory(const tsl_device *device, tsl_figures *figures);
tsl_err tsl_cpu_probe_threads(const tsl_device *device, tsl_figures *figures);

/** Best of a few runs of work(arg), each at least `least` seconds or once. @return seconds */
double tsl_cpu_best(void (*work)(void *arg), void *arg);
