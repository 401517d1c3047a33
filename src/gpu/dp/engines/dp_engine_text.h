/**
 * @file dp_engine_text.h
 * The engine for any recurrence as text, for NVRTC: headers in memory of these names.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/** NULL-ended names, "dp_ptx.cuh" and "dp_engine.cuh", and their contents in the same order. */
extern const char *const dp_engine_names[];
extern const char *const dp_engine_texts[];

#ifdef __cplusplus
}
#endif
