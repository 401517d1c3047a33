/* One type T of allotment and stagecoach rows; included by dp_rows_plain.c. */

static void NAME(allotment)(const dp_row_job *job) {
  const T *returns = job->numbers, *x = job->x;
  T *y = job->y;
#pragma omp parallel for schedule(dynamic, 16)
  for (int64_t c = job->from; c < job->to; c++) {
    T best = x[c] + returns[0];
    int64_t at = 0;
    for (int64_t k = 1; k <= c; k++) {
      const T sum = x[c - k] + returns[k];
      if (sum > best) best = sum, at = k;
    }
    y[c] = best;
    job->k[c - job->from] = (int32_t)at;
  }
}

static void NAME(stagecoach)(const dp_row_job *job) {
  const int64_t m = job->m;
  const T *costs = job->numbers, *x = job->x;
  T *y = job->y;
#pragma omp parallel for schedule(dynamic, 16)
  for (int64_t s = job->from; s < job->to; s++) {
    T best = x[0] + costs[s];
    int64_t at = 0;
    for (int64_t k = 1; k < m; k++) {
      const T sum = x[k] + costs[k * m + s];
      if (sum < best) best = sum, at = k;
    }
    y[s] = best;
    job->k[s - job->from] = (int32_t)at;
  }
}

#undef T
#undef NAME
