/**
 * @file fractal.h
 * The family fractal: escape-time images, as seen by its backends.
 *
 * Pixel (row j, column i) belongs to the point (x[i], y[j]) of two coordinate tables that rank 0
 * makes and everybody receives; row 0 is the top of the picture (largest y). Its value is
 *
 *   k = 1 + (smallest n >= 0 with |z_n|^2 >= 4), or 0 when that k would be >= maxiter,
 *
 * for z_{n+1} = step(z_n, c) of fractal_fn.h. mandelbrot, burning_ship: z_0 = 0, c = point;
 * julia: z_0 = point, c fixed. Values are exact: each trick of a backend (sparse escape test with
 * replay, interior test, periodicity) gives what the plain loop gives, on every device.
 * With exact = 0 the filling of uniform borders (Mariani-Silver) may miss pixels; see totals.
 *
 * A unit is a box of rows [lo[0], hi[0]) x columns [lo[1], hi[1]). Its features: count = expected
 * steps, flops = 7 per step, bytes = bytes of the values.
 */
#pragma once

#include "contract.h"

TSL_C_BEGIN

/** In the order of the deck's words. */
typedef enum fractal_set {
  FRACTAL_MANDELBROT,
  FRACTAL_JULIA,
  FRACTAL_BURNING_SHIP,
  FRACTAL_N_SETS
} fractal_set;

/** How a socket deals pixels to threads; AUTO is our own, the others are plain loops. */
typedef enum fractal_schedule {
  FRACTAL_SCHEDULE_AUTO,     /**< SIMD lanes refilled from a queue of row pieces */
  FRACTAL_SCHEDULE_TASKS,    /**< one OpenMP task per pixel */
  FRACTAL_SCHEDULE_STATIC,   /**< rows, schedule(static) */
  FRACTAL_SCHEDULE_DYNAMIC,  /**< rows, schedule(dynamic) */
  FRACTAL_SCHEDULE_GUIDED,   /**< rows, schedule(guided) */
  FRACTAL_SCHEDULE_COLLAPSE, /**< pixels, collapse(2) schedule(dynamic) */
  FRACTAL_N_SCHEDULES
} fractal_schedule;

/** Where a card's image lives. */
typedef enum fractal_memory {
  FRACTAL_MEMORY_DEVICE,  /**< device memory and a copy */
  FRACTAL_MEMORY_MANAGED, /**< unified memory */
  FRACTAL_MEMORY_PINNED,  /**< mapped host memory */
  FRACTAL_N_MEMORIES
} fractal_memory;

/** Columns of a block of FRACTAL_THREADS_2D. */
enum { FRACTAL_BLOCK_WIDTH = 16 };

/** How a card's threads are laid over pixels; AUTO is our own, the others are plain loops. */
typedef enum fractal_threads {
  FRACTAL_THREADS_AUTO, /**< persistent threads that refill from the unit's pixels */
  FRACTAL_THREADS_1D,   /**< a thread for each column */
  FRACTAL_THREADS_2D,   /**< a thread for each pixel */
  FRACTAL_N_THREADS
} fractal_threads;

/** How a card sums the values. */
typedef enum fractal_mean {
  FRACTAL_MEAN_AUTO,   /**< integers, inside the kernel that makes the values */
  FRACTAL_MEAN_CUBLAS, /**< cublasDasum of the image as doubles; exact below 2^53 */
  FRACTAL_MEAN_TREE,   /**< tree in shared memory, two kernels, integers */
  FRACTAL_MEAN_ATOMIC, /**< atomicAdd of each value, integers */
  FRACTAL_N_MEANS
} fractal_mean;

#define FRACTAL_MAX_ITER INT64_C(2147483647)
enum {
  FRACTAL_TILE = 32 /**< exact = 0: tiles of the filling start at multiples of this, in image
                         coordinates; rows of units are then cut at multiples of it too */
};

/** Parameters of a fractal problem; plain data, the same on all ranks. */
typedef struct fractal_params {
  int32_t set;         /**< fractal_set */
  int32_t type;        /**< TSL_F64 or TSL_F32: type of coordinates and arithmetic */
  int32_t value_type;  /**< TSL_U16 for maxiter <= 65536, else TSL_U32 */
  int32_t exact;       /**< 0: uniform borders are filled */
  int32_t interior;    /**< use the cardioid and bulb test (mandelbrot) */
  int32_t periodicity; /**< stop when the state repeats bit for bit */
  int32_t doubling;    /**< x + x may be done by adding 1 to the exponent, see fractal_fn.h */
  int32_t wild;        /**< julia with |c| near or above 2: test each step */
  int32_t schedule;    /**< fractal_schedule */
  int32_t memory;      /**< fractal_memory */
  int32_t threads;     /**< fractal_threads */
  int32_t block;       /**< threads of a block; 0: the default of threads */
  int32_t mean;        /**< fractal_mean */
  int64_t xres, yres;  /**< columns, rows: >= 1 */
  int64_t maxiter;     /**< 1..FRACTAL_MAX_ITER */
  double c[2];         /**< julia */
} fractal_params;

/**
 * Indices into problem->fields:
 *   FRACTAL_X       IN   [xres] params.type, increasing
 *   FRACTAL_Y       IN   [yres] params.type, decreasing
 *   FRACTAL_VALUES  OUT  GATHER stream [yres][xres] params.value_type, dataset "iterations"
 *   FRACTAL_TOTALS  OUT  SUM u64 [FRACTAL_N_TOTALS]
 *   FRACTAL_BINARY  OUT  GATHER stream u8 [yres][xres], 0 or 255, dataset "binarised"; filled by
 * the family's finish and by no unit; only when asked for
 */
enum { FRACTAL_X, FRACTAL_Y, FRACTAL_VALUES, FRACTAL_TOTALS, FRACTAL_BINARY };

/** Entries of FRACTAL_TOTALS, over the units of a worker. */
enum {
  FRACTAL_TOTAL_VALUES,  /**< sum of the values */
  FRACTAL_TOTAL_INSIDE,  /**< pixels of value 0 */
  FRACTAL_TOTAL_FILLED,  /**< exact = 0: pixels that were filled, not computed */
  FRACTAL_TOTAL_SAMPLED, /**< exact = 0: filled pixels computed afterwards (fractal_is_sampled) */
  FRACTAL_TOTAL_WRONG,   /**< exact = 0: sampled pixels whose value differs from the filling */
  FRACTAL_N_TOTALS
};

static inline const fractal_params *fractal_params_of(const tsl_problem *problem) {
  return (const fractal_params *)problem->params;
}

/** Words of the deck for the enumerations above, NULL-ended. */
extern const char *const fractal_set_words[];
extern const char *const fractal_schedule_words[];
extern const char *const fractal_memory_words[];
extern const char *const fractal_threads_words[];
extern const char *const fractal_mean_words[];

extern const tsl_family tsl_family_fractal;

TSL_C_END
