/**
 * @file tri_cpu_frames.h
 * Frames of a trajectory on a socket, private to src/cpu. As many frames as there are threads are
 * under way; where there are fewer, the threads left over help with their pairs.
 */
#pragma once

#include "tri_frames.h"

enum { TRI_FRAME_LAP = 16 }; /**< numbers that a kernel may read and write beyond its end */

/** What a kernel needs of the problem and of the frame. */
typedef struct tri_frame_view {
  double m[6];
  double lo, hi, inv_width;
  int bins;
} tri_frame_view;

/** 1 + tri_bin of the distances of an atom to n others, so 0 means outside; u1, u2, u3 and out have
 *  room for TRI_FRAME_LAP more. */
typedef void (*tri_frame_bins)(const tri_frame_view *view, const uint32_t at[3], const uint32_t *u1,
                               const uint32_t *u2, const uint32_t *u3, int64_t n, int32_t *out);

/** The kernels of one SIMD level; index [0] is f32, [1] is f64. */
typedef struct tri_frame_kernels {
  tri_frame_bins bins[2];
} tri_frame_kernels;

/** The kernels for an x86-64 level. Made by tsl_simd (tools/cmake/TslSimd.cmake). */
const tri_frame_kernels *tri_frame_kernels_at(int level);

/** A worker's state; close accepts NULL and sets NULL. */
struct tri_frames_cpu;
tsl_err tri_frames_open_cpu(const tsl_problem *problem, int threads, struct tri_frames_cpu **out);
void tri_frames_close_cpu(struct tri_frames_cpu **frames);
/** @param[in] slow  factor of tests, tsl_test_delay_factor */
tsl_err tri_frames_run_cpu(struct tri_frames_cpu *frames, const tsl_unit *units, int64_t n,
                           double slow, tsl_part *parts);
