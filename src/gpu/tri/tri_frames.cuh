/**
 * @file tri_frames.cuh
 * Frames of a trajectory on a card: each host thread of the rank reads frames, and has a stream on
 * which they are sorted and counted, so that the card works while others read.
 */
#pragma once

#include "gpu.cuh"
#include "tri_fn.cuh" /* its square root comes before tri_frame.h */

#include "tri_frames.h"

/** A worker's state; close accepts NULL and sets NULL. */
struct tri_frames_gpu;
tsl_err tri_frames_open_gpu(const tsl_problem *problem, const tsl_device *device,
                            struct tri_frames_gpu **out);
void tri_frames_close_gpu(struct tri_frames_gpu **frames);
tsl_err tri_frames_run_gpu(struct tri_frames_gpu *frames, const tsl_unit *units, int64_t n,
                           tsl_part *parts);
/** Frames that keep all of its threads at work. */
int64_t tri_frames_saturating_gpu(const struct tri_frames_gpu *frames);
