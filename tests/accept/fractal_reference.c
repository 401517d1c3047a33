/* Escape-time values by plain loops, written from docs/families/fractal.md and nothing of src.
 *
 * usage: fractal_reference SET TYPE XRES YRES MAXITER C_RE C_IM < tables > values
 *   SET   mandelbrot, julia or burning_ship       TYPE  f64 or f32
 * stdin: xres and then yres coordinates of TYPE; stdout: yres rows of xres unsigned 32-bit values.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum set { MANDELBROT, JULIA, BURNING_SHIP };

static uint32_t value_f64(enum set set, double px, double py, double c_re, double c_im,
                          long maxiter) {
  double x = 0, y = 0, cx = px, cy = py;
  if (set == JULIA) {
    x = px, y = py, cx = c_re, cy = c_im;
  }
  for (long k = 1; k < maxiter; k++) {
    if (!(fma(x, x, y * y) < 4.0)) return (uint32_t)k;
    if (set == BURNING_SHIP) {
      x = fabs(x);
      y = fabs(y);
    }
    const double sum = x + y, difference = x - y, twice = x + x;
    x = fma(difference, sum, cx);
    y = fma(twice, y, cy);
  }
  return 0;
}

static uint32_t value_f32(enum set set, float px, float py, float c_re, float c_im, long maxiter) {
  float x = 0, y = 0, cx = px, cy = py;
  if (set == JULIA) {
    x = px, y = py, cx = c_re, cy = c_im;
  }
  for (long k = 1; k < maxiter; k++) {
    if (!(fmaf(x, x, y * y) < 4.0f)) return (uint32_t)k;
    if (set == BURNING_SHIP) {
      x = fabsf(x);
      y = fabsf(y);
    }
    const float sum = x + y, difference = x - y, twice = x + x;
    x = fmaf(difference, sum, cx);
    y = fmaf(twice, y, cy);
  }
  return 0;
}

static void *table(long n, size_t bytes) {
  void *values = malloc((size_t)n * bytes);
  if (!values || fread(values, bytes, (size_t)n, stdin) != (size_t)n) {
    fprintf(stderr, "fractal_reference: %ld coordinates expected\n", n);
    exit(2);
  }
  return values;
}

int main(int argc, char **argv) {
  if (argc != 8) {
    fprintf(stderr, "usage: fractal_reference SET TYPE XRES YRES MAXITER C_RE C_IM\n");
    return 2;
  }
  const enum set set = !strcmp(argv[1], "julia")          ? JULIA
                       : !strcmp(argv[1], "burning_ship") ? BURNING_SHIP
                                                          : MANDELBROT;
  const int wide = !strcmp(argv[2], "f64");
  const long xres = atol(argv[3]), yres = atol(argv[4]), maxiter = atol(argv[5]);
  const double c_re = atof(argv[6]), c_im = atof(argv[7]);
  const void *x = table(xres, wide ? sizeof(double) : sizeof(float));
  const void *y = table(yres, wide ? sizeof(double) : sizeof(float));
  for (long j = 0; j < yres; j++)
    for (long i = 0; i < xres; i++) {
      const uint32_t value =
          wide ? value_f64(set, ((const double *)x)[i], ((const double *)y)[j], c_re, c_im, maxiter)
               : value_f32(set, ((const float *)x)[i], ((const float *)y)[j], (float)c_re,
                           (float)c_im, maxiter);
      if (fwrite(&value, sizeof value, 1, stdout) != 1) return 3;
    }
  return fclose(stdout) == 0 ? 0 : 3;
}
