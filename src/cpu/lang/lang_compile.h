/**
 * @file lang_compile.h
 * Emitted C to functions of this process: the host compiler, a cache of its objects, dlopen.
 *
 * The compiler is $CC or cc, run with an argument vector, never by a shell, on files of a folder
 * that it alone uses, of mode 0700 inside the cache's (lang_cache.h); its own temporary files are
 * there too. Objects are kept with the text, the compiler and the flags that they were made from,
 * and taken for these alone. Objects are loaded from memory, so that folders mounted without exec
 * do not matter.
 */
#pragma once

#include "contract.h"
#include "lang_expr.h"

#include <stdbool.h>
#include <stdint.h>

/** A loaded object; create with lang_object_open or lang_object_load. */
typedef struct lang_object lang_object;

/**
 * Compile a text, or take its object from the cache, and load it.
 * Threads: one at a time.
 * @param[in]  level  x86-64 level 2, 3 or 4 to compile for; 0: this processor
 * @param[in]  purpose  for messages
 * @param[out] out    unload with lang_object_close
 * @return TSL_ERR_INPUT when there is neither compiler nor cached object (the message says what to
 *         do), TSL_ERR_IO when the cache cannot be used, TSL_ERR_INTERNAL when the text does not
 *         compile
 */
tsl_err lang_object_open(const char *text, int level, const lang_purpose *purpose,
                         lang_object **out);

/**
 * Load an object's bytes, compiled elsewhere on the same kind of processor.
 * @param[in] bytes  [n] as from lang_object_bytes
 */
tsl_err lang_object_load(const void *bytes, int64_t n, lang_object **out);

/** The object's bytes, to send to hosts without a compiler; free with tsl_free. */
tsl_err lang_object_bytes(const lang_object *object, void **bytes, int64_t *n);

/** Address of a function. @return TSL_ERR_INTERNAL when there is none of this name */
tsl_err lang_object_find(const lang_object *object, const char *name, void **address);

/** tsl_backend.prepare of a text: objects for the levels of the devices into the problem's field
 *  (lang_objects.h), but those that are there. @return as lang_object_open */
tsl_err lang_cpu_prepare(tsl_problem *problem, const char *text, const lang_purpose *purpose,
                         const tsl_device *devices, int n);

/** The same of a problem's equation (lang_equation.h) with the loops around it. */
tsl_err lang_cpu_prepare_equation(tsl_problem *problem, const char *loops,
                                  const lang_purpose *purpose, const tsl_device *devices, int n);

/** Load what was compiled for the device. */
tsl_err lang_cpu_load(const tsl_problem *problem, const tsl_device *device, lang_object **out);

/** NULL accepted, sets NULL. */
void lang_object_close(lang_object **object);
