/* Any bytes as a molecule (XYZ, QCSchema JSON) and as a basis set (NWChem, Gaussian94, LIO): read
 * or refused with a message, and what is read keeps the promises of the headers.
 *
 * With libFuzzer:  clang -fsanitize=fuzzer,address -DTSL_LIBFUZZER ...; ./fuzz_xc_input CORPUS
 * Without:         ./fuzz_xc_input SECONDS FILE...   mutates the files (and built-in texts) at
 * random */
#include "xc_basis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void must(bool holds, const char *what) {
  if (holds) return;
  (void)fprintf(stderr, "%s: %s\n", what, tsl_err_message());
  abort();
}

static bool taken(tsl_err err) {
  must(err == TSL_OK || (err == TSL_ERR_INPUT && tsl_err_message()[0] != '\0'), "refusal");
  return err == TSL_OK;
}

static void check_molecule(xc_molecule *m) {
  if (taken(xc_molecule_finish("fuzz", m))) {
    must(m->alpha >= m->beta && m->beta >= 0 && m->alpha >= 1, "electrons");
    must(m->alpha - m->beta == m->multiplicity - 1, "multiplicity");
    must(isfinite(xc_repulsion_nuclei(m)), "repulsion");
  }
  xc_molecule_clear(m);
}

static void check_set(xc_set *set) {
  xc_basis basis;
  must(set->n > 0, "an empty set");
  for (int64_t k = 0; k < set->n; k++) {
    const xc_set_shell *s = &set->shells[k];
    xc_atom atom = {.z = s->z};
    const xc_molecule molecule = {.atoms = &atom, .n_atoms = 1};
    must(s->z >= 1 && s->z <= XC_MAX_Z && s->l >= 0 && s->l <= XC_MAX_L, "element or l");
    must(s->n >= 1 && s->n <= XC_MAX_PRIMITIVES, "primitives");
    if (!taken(xc_basis_create(set, XC_KIND_AUTO, &molecule, &basis))) continue;
    for (int64_t b = 0; b < basis.n_shells; b++)
      must(isfinite(basis.shells[b].radius) && basis.shells[b].radius >= 0, "radius");
    xc_basis_clear(&basis);
  }
  xc_set_clear(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  const char *text = (const char *)data;
  const int64_t n = (int64_t)n_bytes;
  xc_molecule m = {0};
  xc_model model;
  xc_set set, fitting;
  if (taken(xc_molecule_parse_xyz("fuzz", text, n, &m))) check_molecule(&m);
  memset(&m, 0, sizeof m);
  if (taken(xc_molecule_parse_json("fuzz", text, n, &m, &model)))
    check_molecule(&m);
  else
    must(m.atoms == NULL, "atoms of a refused file");
  if (taken(xc_set_parse("fuzz", text, n, &set))) check_set(&set);
  if (taken(xc_set_parse_lio("fuzz", text, n, &set, &fitting)))
    check_set(&set), check_set(&fitting);
  (void)xc_set_is_lio(text, n);
  return 0;
}

#ifndef TSL_LIBFUZZER

enum { MOST = 4096 };

static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static size_t mutate(uint8_t *bytes, size_t n) {
  static const char pool[] = "\r\n \t\0#!*-+.0129eEdDSPGHOh\"[]{},:";
  for (uint64_t k = next() % 8; k > 0; k--) {
    const size_t at = (size_t)(next() % (n + 1));
    const uint8_t byte = next() % 4 != 0 ? (uint8_t)pool[next() % sizeof pool] : (uint8_t)next();
    if (next() % 2 != 0 && at < n) {
      bytes[at] = byte;
    } else if (next() % 2 != 0 && n < MOST) {
      memmove(bytes + at + 1, bytes + at, n - at);
      bytes[at] = byte, n++;
    } else if (at < n) {
      memmove(bytes + at, bytes + at + 1, n - at - 1);
      n--;
    }
  }
  return n;
}

static size_t load(const char *path, uint8_t *bytes) {
  FILE *file = fopen(path, "rb");
  must(file != NULL, path);
  const size_t n = fread(bytes, 1, MOST, file);
  (void)fclose(file);
  return n;
}

int main(int argc, char **argv) {
  static const char *const texts[] = {
      "3\nwater\nO 0 0 0.1\nH 0.7 0 -0.4\nH -0.7 0 -0.4\n",
      "{\"molecule\": {\"symbols\": [\"O\", \"H\"], \"geometry\": [0, 0, 0, 0, 0.0, 1.8e0], "
      "\"molecular_charge\": -1, \"real\": [true, true]}, \"model\": {\"method\": \"PBE\"}}",
      "BASIS \"a\" SPHERICAL\nO SP\n 1.0D+01 0.5 0.6\n 2 .25 1e-1\nH S\n 3 1 0\n 1 .5 .5\nEND\n",
      "****\nO 0\nSP 2 1.00\n 1.0D+01 0.5 0.6\n 2 1 1\nD 1 2.0\n 0.8 1.0\n****\nH 0\nS 1\n1 "
      "1\n****",
      "gaussian\n 8 3 2\n 2 1\n 0 2\n 5 .1\n 4 .2\n .8 1\n 8 1 1\n 1\n 0\n9 1\nendbasis\n",
      ""};
  enum { N_TEXTS = sizeof texts / sizeof *texts };
  const double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  const time_t end = time(NULL) + (time_t)seconds;
  static uint8_t bytes[MOST + 1];
  long long runs = 0;
  while (time(NULL) <= end)
    for (int k = 0; k < 1000; k++, runs++) {
      const size_t pick = (size_t)(next() % (N_TEXTS + (size_t)(argc > 2 ? argc - 2 : 0)));
      size_t n = 0;
      if (pick < N_TEXTS)
        memcpy(bytes, texts[pick], n = strlen(texts[pick]));
      else
        n = load(argv[pick - N_TEXTS + 2], bytes);
      n = mutate(bytes, n);
      (void)LLVMFuzzerTestOneInput(bytes, n);
    }
  printf("%lld texts\n", runs);
  return 0;
}
#endif
