/* Rows of bits on a card: upload, and values of a strip. */
#include "tri_bits.cuh"

tsl_err tri_bits_open(tri_gpu *w) {
  tsl_err err = TSL_OK;
  const tsl_field *const field = &w->problem->fields[TRI_WORDS];
  const int64_t bytes = tri_words_of(&w->p) * w->p.n_pad * (int64_t)sizeof(uint64_t);
  if (!tri_of_bits(&w->p)) return TSL_OK;
  TSL_TRY(tsl_gpu_upload(w, &w->words, field->data, bytes, "bits"));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

tsl_err tri_bits_rows(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1, void *out) {
  if (w->p.type == TSL_F64) return tri_bits_launch<double>(w, a, b, c0, c1, (double *)out);
  return tri_bits_launch<float>(w, a, b, c0, c1, (float *)out);
}
