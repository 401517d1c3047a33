/* Extensions on a card, with x-drop and without, for test_tri_gpu.cu: values beside the definition,
 * alignments beside the socket's bytes, too. */
#pragma once

#include "test_tri_gpu_letters.cuh"

extern "C" const tsl_backend tri_backend_cpu;

/* An antidiagonal by its rows. */
struct extension_line {
  std::vector<int64_t> h, e, f;
};

/* All cells of every antidiagonal, of which those below the best before less x_drop are dropped.
 * @return the score; at: the best cell */
template <class R>
static int extension_of(const letters_data<R> &d, int64_t row, int64_t column, int64_t at[2]) {
  const uint8_t *const a = d.codes.data() + d.starts[(size_t)row];
  const uint8_t *const b = d.codes.data() + d.starts[(size_t)column];
  const int64_t n = d.starts[(size_t)row + 1] - d.starts[(size_t)row], low = INT64_MIN / 4;
  const int64_t m = d.starts[(size_t)column + 1] - d.starts[(size_t)column];
  const std::vector<int64_t> none((size_t)n + 1, low);
  extension_line lines[3] = {{none, none, none}, {none, none, none}, {none, none, none}};
  int64_t top = 0;
  at[0] = at[1] = 0;
  lines[0].h[0] = 0;
  for (int64_t k = 1; k <= n + m; k++) {
    extension_line &now = lines[k % 3] = {none, none, none};
    const extension_line &one = lines[(k + 2) % 3], &two = lines[(k + 1) % 3];
    const int64_t cut = d.p.x_drop == TRI_NO_DROP ? low / 2 : top - d.p.x_drop;
    for (int64_t i = std::max<int64_t>(0, k - m); i <= std::min(n, k); i++) {
      const size_t q = (size_t)i;
      const int64_t j = k - i;
      int64_t pair = low, along = low, down = low;
      if (j > 0) along = std::max(one.h[q] - d.p.open, one.e[q]) - d.p.extend;
      if (i > 0) down = std::max(one.h[q - 1] - d.p.open, one.f[q - 1]) - d.p.extend;
      if (i > 0 && j > 0) pair = two.h[q - 1] + d.scores[(size_t)(a[i - 1] * d.p.codes + b[j - 1])];
      const int64_t here = std::max({pair, along, down});
      if (here < cut) continue;
      now.h[q] = here, now.e[q] = along, now.f[q] = down;
      if (here > top || (here == top && i < at[0])) top = here, at[0] = i, at[1] = j;
    }
  }
  return (int)top;
}

/* Row k becomes column k with one letter in 12 changed and shifts between stretches, of every third
 * only as far as its middle. */
template <class R> static void relate(letters_data<R> &d) {
  for (int64_t k = 0; k < d.p.columns; k++) {
    const int64_t to = d.starts[(size_t)(d.p.first + k)], from = d.starts[(size_t)k];
    const int64_t n = d.starts[(size_t)(d.p.first + k + 1)] - to,
                  m = d.starts[(size_t)k + 1] - from;
    int64_t shift = 0;
    for (int64_t t = 0; t < (k % 3 == 2 ? n / 2 : n); t++) {
      const uint64_t draw = (uint64_t)(k * 70001 + t) ^ 0xabcd;
      if (random_at(draw) < 0.03) shift += (int64_t)(random_at(draw ^ 0x777) * 7) - 3;
      if (t + shift < 0 || t + shift >= m || random_at(draw ^ 0x3333) < 1.0 / 12) continue;
      d.codes[(size_t)(to + t)] = d.codes[(size_t)(from + t + shift)];
    }
  }
}

/* The same alignments, byte by byte. */
static void same_lists(const tri_case *c, const tsl_part &card, const tsl_part &socket, int field,
                       int64_t lo) {
  const size_t bytes[2] = {TRI_SPAN * sizeof(int64_t), sizeof(uint32_t)};
  for (int k = 0; k < 2; k++) {
    const tsl_list &got = card.list[field + k], &want = socket.list[field + k];
    n_checks++;
    if (got.n != want.n)
      report(c, 0, "list", lo, (double)got.n, (double)want.n);
    else if (got.n > 0 && memcmp(got.data, want.data, (size_t)got.n * bytes[k]) != 0)
      report(c, 0, "bytes of a list", lo, k, 0);
  }
}

/* Paired rows [0, n) of both, with the alignments that are asked for. */
template <class R> static tsl_err beside_socket(letters_data<R> &data) {
  tsl_err err = TSL_OK;
  const tri_case c = {data.p.function, data.p.output, data.p.type, data.p.n, 0, 0, 0};
  const tsl_backend *const backends[2] = {backend, &tri_backend_cpu};
  tsl_device devices[2] = {device, {}};
  tsl_part parts[2] = {};
  tsl_worker *worker = NULL;
  tsl_unit unit = {};
  unit.hi[0] = data.p.columns;
  devices[1].kind = TSL_CPU;
  for (int k = 0; k < 2; k++) {
    TSL_TRY(backend->host_alloc(data.p.columns * (int64_t)sizeof(R), &parts[k].slab[TRI_OUT]));
    TSL_TRY(backends[k]->open(&data.problem, &devices[k], &worker));
    TSL_TRY(backends[k]->begin(worker, 0));
    TSL_TRY(backends[k]->run(worker, &unit, 1, &parts[k]));
    backends[k]->close(&worker);
  }
  same_lists(&c, parts[0], parts[1], tri_spans_of(&data.p), 0);
  if (memcmp(parts[0].slab[TRI_OUT], parts[1].slab[TRI_OUT], (size_t)data.p.columns * sizeof(R)) !=
      0)
    report(&c, 0, "bytes of values", 0, 0, 0);
done:
  for (int k = 0; k < 2; k++) {
    if (worker != NULL) backends[k]->close(&worker);
    backend->host_free(parts[k].slab[TRI_OUT]);
    for (tsl_list &list : parts[k].list) free(list.data);
  }
  return err;
}

/* With several limits; size: of scores and gaps. */
template <class R>
static tsl_err extension_case(const std::vector<int64_t> &lengths, int64_t columns, int output,
                              int n_codes, int size, int open, int extend) {
  tsl_err err = TSL_OK;
  for (int drop : {0, 3, 20, 100, 700, -1}) {
    letters_data<R> data(TRI_EXTENSION, lengths, columns, n_codes);
    data.p.output = output;
    data.p.aligned = output == TRI_PAIRED;
    data.p.x_drop = drop < 0 ? (int)TRI_NO_DROP : drop * size;
    data.score(size, size * open, size * extend);
    if (output == TRI_PAIRED) relate(data);
    TSL_TRY(check_letters(data));
    if (output != TRI_PAIRED) continue;
    TSL_TRY(beside_socket(data));
    data.p.aligned = 0;
    TSL_TRY(beside_socket(data));
  }
done:
  return err;
}

/* In so many bytes of device memory alignments are made in several batches, few side by side. */
static tsl_err extensions_within(int64_t bytes, const std::vector<int64_t> &lengths, int64_t n) {
  tsl_err err = TSL_OK;
  const int64_t limit = device.memory_limit;
  device.memory_limit = bytes;
  TSL_TRY(extension_case<float>(lengths, n, TRI_PAIRED, 4, 1, 5, 2));
done:
  device.memory_limit = limit;
  return err;
}

/* Ragged lengths, none, one letter, long ones beside short ones; antidiagonals about 32, and within
 * shared memory and beyond; strips of directions. */
static tsl_err test_extension(void) {
  tsl_err err = TSL_OK;
  std::vector<int64_t> columns, rows, all, few = {0, 1, 2, 31, 32, 33, 250, 256, 700, 1900};
  for (int64_t k = 0; k < 300; k++) {
    columns.push_back((int64_t)(200 * random_at((uint64_t)k)));
    rows.push_back((int64_t)(200 * random_at((uint64_t)(k + 7000))));
  }
  columns[17] = 3000, rows[17] = 3100, columns[18] = rows[18] = 0, columns[19] = rows[19] = 1;
  columns[20] = 0, rows[20] = 200, columns[21] = 500, rows[21] = 0, columns[22] = 40;
  rows[22] = 2500, columns[23] = rows[23] = 255, columns[24] = rows[24] = 900;
  all = columns;
  all.insert(all.end(), rows.begin(), rows.end());
  for (int codes : {4, 24, 31})
    TSL_TRY(extension_case<float>(all, 300, TRI_PAIRED, codes, 1, 5, 2));
  TSL_TRY(extension_case<double>(all, 300, TRI_PAIRED, 24, 40, 11, 1));
  TSL_TRY(extension_case<float>(all, 300, TRI_PAIRED, 4, 1, 0, 1));
  TSL_TRY(extension_case<float>(all, 300, TRI_PAIRED, 4, 1, 0, 0));
  TSL_TRY(extensions_within(8 << 20, all, 300));
  TSL_TRY(extension_case<float>({1, 1}, 1, TRI_PAIRED, 4, 1, 5, 2));
  for (int64_t k = 0; k < 60; k++) few.push_back((k * 37) % 190);
  TSL_TRY(extension_case<float>(few, 0, TRI_CONDENSED, 4, 1, 5, 2));
  TSL_TRY(extension_case<double>(few, 23, TRI_CONDENSED, 24, 3, 11, 1));
done:
  return err;
}
