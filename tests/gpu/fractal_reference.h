/* Values of an escape-time image by a loop that shares nothing with the program. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct reference_image {
  int set;    /* 0 mandelbrot, 1 julia, 2 burning ship */
  int single; /* 1: all arithmetic in float; x, y, c hold floats then */
  int64_t xres, yres, maxiter;
  const double *x, *y; /* [xres], [yres] */
  double c[2];
} reference_image;

/* values [yres][xres]; all cores */
void reference_values(const reference_image *image, uint32_t *values);

#ifdef __cplusplus
}
#endif
