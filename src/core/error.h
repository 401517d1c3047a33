/**
 * @file error.h
 * Error codes, the error stack of a thread, and the two macros every function uses.
 *
 * A function that can fail returns tsl_err, declares `tsl_err err = TSL_OK;` and has one
 * label `done:` that frees what it owns and returns err. TSL_FAIL starts a message,
 * TSL_TRY passes it up and notes the place. Messages say what, where and what to do.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/** Around what has C linkage in a header that CUDA and C++ files include too. */
#ifdef __cplusplus
#define TSL_C_BEGIN extern "C" {
#define TSL_C_END }
#else
#define TSL_C_BEGIN
#define TSL_C_END
#endif

TSL_C_BEGIN

/** Code, exit status of the program. One list drives the enum and tsl_err_status. */
#define TSL_ERR_LIST(X)                                        \
  X(TSL_OK, 0)                                                 \
  X(TSL_ERR_USAGE, 2)         /* wrong command line */         \
  X(TSL_ERR_INPUT, 2)         /* bad input */                  \
  X(TSL_ERR_MEMORY, 3)        /* out of host memory */         \
  X(TSL_ERR_DEVICE, 3)        /* device error */               \
  X(TSL_ERR_DEVICE_MEMORY, 3) /* out of device memory */       \
  X(TSL_ERR_IO, 3)            /* input/output error */         \
  X(TSL_ERR_MPI, 3)           /* MPI error */                  \
  X(TSL_ERR_NUMERIC, 3)       /* invalid number in a result */ \
  X(TSL_ERR_INTERNAL, 3)      /* internal error */             \
  X(TSL_ERR_STOPPED, 3)       /* stopped by a signal */        \
  X(TSL_ERR_LOST, 3)          /* another rank is silent */     \
  X(TSL_ERR_PAUSED, 85)       /* stopped early, restart possible */

typedef enum tsl_err {
#define X(name, status) name,
  TSL_ERR_LIST(X)
#undef X
      TSL_N_ERR
} tsl_err;

/** Exit status of the program for a code: 0, 2, 3 or 85. */
int tsl_err_status(tsl_err code);

/**
 * Start this thread's error message; replaces an earlier one.
 * @param[in] fmt  printf format: what went wrong, where in the user's terms, what to do
 * @return code, for use in a return statement
 */
tsl_err tsl_fail(tsl_err code, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/** Note a place the error passed through; returns code. */
tsl_err tsl_trace(tsl_err code, const char *file, int line);

/** This thread's message (empty string when none); valid until the next tsl_fail here. */
const char *tsl_err_message(void);

/** The places the error passed through, innermost first, one per line; may be empty. */
const char *tsl_err_places(void);

/** Longest message in bytes, the closing zero included. */
enum { TSL_ERR_MESSAGE_MAX = 2048, TSL_ERR_PLACES_MAX = 1024 };

/** Copy of a thread's error, to carry it to another thread or rank (plain data). */
typedef struct tsl_err_copy {
  tsl_err code;
  char message[TSL_ERR_MESSAGE_MAX];
  char places[TSL_ERR_PLACES_MAX];
} tsl_err_copy;

/** Save this thread's error into copy. */
void tsl_err_save(tsl_err code, tsl_err_copy *copy);

/** Make copy this thread's error; returns its code. */
tsl_err tsl_err_restore(const tsl_err_copy *copy);

#define TSL_FAIL(code, ...)                               \
  do {                                                    \
    err = (code);                                         \
    (void)tsl_fail(err, __FILE__, __LINE__, __VA_ARGS__); \
    goto done;                                            \
  } while (0)

#define TSL_TRY(call)                           \
  do {                                          \
    err = (call);                               \
    if (err != TSL_OK) {                        \
      (void)tsl_trace(err, __FILE__, __LINE__); \
      goto done;                                \
    }                                           \
  } while (0)

TSL_C_END
