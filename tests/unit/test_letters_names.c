/* unit.letters.names: which names are given twice, against a search through all of them, with
 * hashes that are often alike, by several threads and in several parts. */
#include "must.h"

#include "letters_names.h"
#include "parallel.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 20000 };

typedef struct made {
  int32_t name[MOST]; /* 0: "" */
  uint64_t hash[MOST];
} made;

static made m;

/** Names are numbers, of which `alike` have one hash. */
static void make(int n, int names, int alike, uint64_t *state) {
  char text[16];
  for (int k = 0; k < n; k++) {
    m.name[k] = random_below(state, 50) == 0 ? 0 : k + 1;
    if (names > 0) m.name[k] = 1 + random_below(state, names);
    (void)snprintf(text, sizeof text, "%d", m.name[k] / alike);
    m.hash[k] = m.name[k] == 0 ? 0 : letters_names_hash(text, (int64_t)strlen(text));
  }
}

/** The first record that has the name of an earlier one, and the first that has it. */
static void search(int n, int64_t same[2]) {
  int32_t *first = calloc((size_t)MOST + 2, sizeof *first);
  assert_non_null(first);
  same[0] = -1;
  for (int k = 0; k < n && same[0] < 0; k++) {
    if (m.name[k] == 0) continue;
    if (first[m.name[k]] > 0) same[0] = first[m.name[k]] - 1, same[1] = k;
    first[m.name[k]] = k + 1;
  }
  free(first);
}

static tsl_err are_equal(void *context, int64_t a, int64_t b, bool *equal) {
  (void)context;
  *equal = m.name[a] == m.name[b];
  return TSL_OK;
}

static void is_found(int n, int part) {
  const letters_names_equal equal = {are_equal, NULL};
  letters_names names;
  int64_t wanted[2], same[2] = {-1, -1};
  search(n, wanted);
  MUST(letters_names_create(n, &names));
  for (int64_t k = 0; k < n && same[0] < 0; k += part) {
    const int64_t end = k + part < n ? k + part : n;
    MUST(letters_names_put(&names, m.hash + k, k, end, &equal, same));
  }
  assert_int_equal(same[0], wanted[0]);
  if (wanted[0] >= 0) assert_int_equal(same[1], wanted[1]);
  letters_names_clear(&names);
}

/** All different; one that is there again; many; few names, which all are there again. */
static void twice(void **unused) {
  (void)unused;
  for (int threads = 1; threads <= 4; threads++) {
    MUST(tsl_parallel_open(threads));
    for (uint64_t seed = 0; seed < 60; seed++) {
      uint64_t state = seed + 3;
      const int n = 1 + random_below(&state, MOST), alike = 1 + random_below(&state, 2) * 5;
      const int part = seed % 3 == 0 ? n : 1 + random_below(&state, n);
      make(n, 0, alike, &state);
      is_found(n, part);
      const int from = random_below(&state, n);
      for (int k = 0; k < (int)(seed % 4); k++) {
        const int to = random_below(&state, n);
        m.name[to] = m.name[from], m.hash[to] = m.hash[from];
      }
      is_found(n, part);
      make(n, 1 + random_below(&state, MOST), alike, &state);
      is_found(n, part);
    }
  }
  tsl_parallel_close();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(twice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
