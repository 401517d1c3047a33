/* Bodies of fractal_fn.h for one type; included once for double and once for float. No guard: the
 * includer sets FRACTAL_REAL, FRACTAL_(name), FRACTAL_FMA, FRACTAL_ABS; the end unsets them. */

#define R FRACTAL_REAL

/** One step of the set: (x, y) <- (x, y)^2 + (cx, cy). */
TSL_FN void FRACTAL_(fractal_step)(int set, R *x, R *y, R cx, R cy) {
  const R a = set == FRACTAL_BURNING_SHIP ? FRACTAL_ABS(*x) : *x;
  const R b = set == FRACTAL_BURNING_SHIP ? FRACTAL_ABS(*y) : *y;
  *x = FRACTAL_FMA(a - b, a + b, cx);
  *y = FRACTAL_FMA(a + a, b, cy);
}

/** |z|^2 >= 4, or z is no number. */
TSL_FN int FRACTAL_(fractal_is_out)(R x, R y) {
  return !(FRACTAL_FMA(x, x, y * y) < (R)4);
}

/** |c| > 2 - 1e-9 (fp32: 2 - 1e-5): leaving is not for ever in rounded arithmetic; test each step.
 */
TSL_FN int FRACTAL_(fractal_is_wild)(R cx, R cy) {
  const R edge = sizeof(R) == 8 ? (R)(4 - 4e-9) : (R)(4 - 4e-5);
  return !(FRACTAL_FMA(cx, cx, cy * cy) < edge);
}

/** Is c well inside the main cardioid or the period-2 disc of the Mandelbrot set? */
TSL_FN int FRACTAL_(fractal_is_interior)(R cx, R cy) {
  const R margin = FRACTAL_INTERIOR_MARGIN(R);
  const R y2 = cy * cy, u = cx - (R)0.25, v = cx + (R)1;
  const R q = FRACTAL_FMA(u, u, y2);
  return q * (q + u) < FRACTAL_FMA((R)0.25, y2, -margin) ||
         FRACTAL_FMA(v, v, y2) < (R)0.0625 - margin;
}

/** z_0 and c of the point (px, py). */
TSL_FN void FRACTAL_(fractal_start)(const fractal_params *p, R px, R py, R *x, R *y, R *cx, R *cy) {
  const int julia = p->set == FRACTAL_JULIA;
  *x = julia ? px : (R)0;
  *y = julia ? py : (R)0;
  *cx = julia ? (R)p->c[0] : px;
  *cy = julia ? (R)p->c[1] : py;
}

/** Value of the point (px, py) by the plain loop: the definition. */
TSL_FN int64_t FRACTAL_(fractal_plain)(const fractal_params *p, R px, R py) {
  R x, y, cx, cy;
  int64_t k = 1;
  FRACTAL_(fractal_start)(p, px, py, &x, &y, &cx, &cy);
  for (; k < p->maxiter && !FRACTAL_(fractal_is_out)(x, y); k++)
    FRACTAL_(fractal_step)(p->set, &x, &y, cx, cy);
  return k < p->maxiter ? k : 0;
}

#undef R
#undef FRACTAL_REAL
#undef FRACTAL_
#undef FRACTAL_FMA
#undef FRACTAL_ABS
