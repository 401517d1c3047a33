/* Strips of values of many dimensions (tri_values.cuh) for fp64, and the choice of the type. */
#include "tri_bits.h"
#include "tri_letters.cuh"
#include "tri_values.cuh"

template tsl_err tri_values_rows<double>(const tri_gpu *, int64_t, int64_t, int64_t, int64_t,
                                         double *);
extern template tsl_err tri_values_rows<float>(const tri_gpu *, int64_t, int64_t, int64_t, int64_t,
                                               float *);

tsl_err tri_values_strip(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->strips[0], (b - a) * (c1 - c0) * tri_value_bytes(w),
                          "strip of values"));
  if (tri_of_bits(&w->p))
    TSL_TRY(tri_bits_rows(w, a, b, c0, c1, w->strips[0].data));
  else if (w->letters != NULL && w->p.type == TSL_F64)
    TSL_TRY(tri_letters_rows<double>(w, a, b, c0, c1, (double *)w->strips[0].data));
  else if (w->letters != NULL)
    TSL_TRY(tri_letters_rows<float>(w, a, b, c0, c1, (float *)w->strips[0].data));
  else if (w->p.type == TSL_F64)
    TSL_TRY(tri_values_rows<double>(w, a, b, c0, c1, (double *)w->strips[0].data));
  else
    TSL_TRY(tri_values_rows<float>(w, a, b, c0, c1, (float *)w->strips[0].data));
done:
  return err;
}
