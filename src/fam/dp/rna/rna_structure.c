/* Energies of structures, loop by loop. */
#include "rna_structure.h"

void rna_structure_text(const int64_t *partner, int64_t n, char *text) {
  for (int64_t k = 0; k < n; k++) text[k] = partner[k] < 0 ? '.' : partner[k] > k ? '(' : ')';
}

/* A structure, and where in it. */
typedef struct walk {
  const rna_energy *e;
  const int32_t *sizes;
  const uint8_t *letters;
  const int64_t *partner;
  int64_t n;
  int bad;
} walk;

/* The first letter from k on that opens a pair; end: none before it. Pairs that leave are bad. */
static int64_t next_pair(walk *w, int64_t k, int64_t end) {
  while (k < end && w->partner[k] < 0) k++;
  if (k < end) {
    const int64_t j = w->partner[k];
    w->bad = w->bad || j <= k || j >= end || w->partner[j] != k ||
             rna_pair(w->letters[k], w->letters[j]) == 0;
    if (w->bad) return end;
  }
  return k;
}

static int64_t exterior(walk *w) {
  int64_t sum = 0;
  for (int64_t k = next_pair(w, 0, w->n); k < w->n && !w->bad;) {
    const int64_t j = w->partner[k];
    sum += rna_exterior_stem(w->e, rna_pair(w->letters[k], w->letters[j]),
                             k > 0 ? w->letters[k - 1] : -1, j + 1 < w->n ? w->letters[j + 1] : -1);
    k = next_pair(w, j + 1, w->n);
  }
  return sum;
}

static int64_t multiloop(walk *w, int64_t i, int64_t j) {
  const uint8_t *s = w->letters;
  int64_t unpaired = 0, last = i,
          sum =
              w->e->multi_closing + rna_multi_stem(w->e, rna_pair(s[j], s[i]), s[j - 1], s[i + 1]);
  for (int64_t k = next_pair(w, i + 1, j); k < j && !w->bad; k = next_pair(w, last + 1, j)) {
    unpaired += k - last - 1;
    last = w->partner[k];
    sum += rna_multi_stem(w->e, rna_pair(s[k], s[last]), s[k - 1], s[last + 1]);
  }
  unpaired += j - last - 1;
  return sum + unpaired * w->e->multi_base;
}

/* The loop that (i, j) closes. */
static int64_t loop(walk *w, int64_t i, int64_t j) {
  const int64_t p = next_pair(w, i + 1, j);
  if (w->bad) return 0;
  if (p == j) return rna_hairpin(w->e, w->sizes, w->letters + i, j - i - 1);
  const int64_t q = w->partner[p];
  if (next_pair(w, q + 1, j) < j || w->bad) return multiloop(w, i, j);
  if (p - i - 1 + j - q - 1 > RNA_LOOP) return RNA_NONE;
  return rna_interior(w->e, w->letters + i, (int)(p - i - 1), w->letters + q, (int)(j - q - 1));
}

int rna_structure_energy(const rna_energy *e, const int32_t *sizes, const uint8_t *letters,
                         int64_t n, const int64_t *partner, int64_t *energy) {
  walk w = {.e = e, .sizes = sizes, .letters = letters, .partner = partner, .n = n};
  *energy = exterior(&w);
  for (int64_t i = 0; i < n && !w.bad; i++) {
    const int64_t j = partner[i];
    w.bad = j >= n || j == i || (j >= 0 && partner[j] != i);
    if (!w.bad && j > i) *energy += loop(&w, i, j);
  }
  return w.bad;
}
