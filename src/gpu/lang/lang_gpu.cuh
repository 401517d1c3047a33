/**
 * @file lang_gpu.cuh
 * Emitted CUDA on a card: compiled by NVRTC, kept on disk, loaded by the driver.
 *
 *   lang_nvrtc.cu   text to an image for one kind of card
 *   lang_module.cu  an image to kernels of this card
 */
#pragma once

#include "gpu.cuh"
#include "lang_expr.h"

/** Is NVRTC here?
 *  @param[out] why  NULL, or static text: what is missing and what to do */
bool lang_has_nvrtc(const char **why);

/** A text with the headers that it includes; all borrowed. */
typedef struct lang_program {
  const char *text;
  const char *const *header_names; /**< NULL-ended */
  const char *const *header_texts;
  const lang_purpose *purpose;
} lang_program;

/**
 * Compile a program, or take its image from the cache (lang_cache.h). No card is needed.
 * Threads: one at a time.
 * @param[in]  capability  10 * major + minor of the card; for one that this NVRTC does not know the
 *                         image is PTX for the newest that it does, which the driver translates
 * @param[out] image       [*n] cubin or zero-ended PTX; free with tsl_free
 * @return TSL_ERR_INPUT when there is neither NVRTC nor a cached image (the message says what to
 *         do), TSL_ERR_IO when the cache cannot be used, TSL_ERR_INTERNAL when the text does not
 *         compile
 */
tsl_err lang_compile_gpu(const lang_program *program, int capability, void **image, int64_t *n);

/** tsl_backend.prepare of a program: images for the cards into the problem's field
 *  (lang_objects.h), but those that are there. @return as lang_compile_gpu */
tsl_err lang_gpu_prepare(tsl_problem *problem, const lang_program *program,
                         const tsl_device *devices, int n);

/** The same of a problem's equation (lang_equation.h) with the loops around it. */
tsl_err lang_gpu_prepare_equation(tsl_problem *problem, const char *loops,
                                  const lang_purpose *purpose, const tsl_device *devices, int n);

/** An image in this card's memory; functions that it does not have are found out when launched. */
typedef struct lang_module lang_module;

/**
 * @param[in] image  [n], copied by the driver
 * @param[in] names  [count] of the kernels, borrowed until the module is unloaded; at most 8
 */
tsl_err lang_module_load(const void *image, int64_t n, const char *const *names, int count,
                         lang_module **out);
/** The same of the problem's image for a capability. @return TSL_ERR_INTERNAL when it has none */
tsl_err lang_module_open(const tsl_problem *problem, int32_t capability, const char *const *names,
                         int count, lang_module **out);
/** NULL accepted, sets NULL. */
void lang_module_unload(lang_module **module);
/** Queue a launch of kernel number `kernel`; an empty grid: nothing. params: addresses of the
 *  arguments. */
tsl_err lang_module_launch(const lang_module *module, int kernel, dim3 grid, int threads,
                           cudaStream_t stream, void **params);
/** Blocks that are resident on a multiprocessor at once. */
tsl_err lang_module_resident(const lang_module *module, int kernel, int threads, int *blocks);
