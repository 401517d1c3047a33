/* Any bytes as a molecule (XYZ, QCSchema JSON), as point charges and as a basis set (NWChem,
 * Gaussian94, LIO): read or refused with a message, and what is read keeps the promises of the
 * headers. */
#include "fuzz_driver.h"
#include "xc_basis.h"
#include "xc_frames.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

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
  double electrons[4];
  must(set->n > 0 || set->ecps.n > 0, "an empty set");
  for (int64_t k = 0; k < set->ecps.n; k++) {
    const xc_ecp *e = &set->ecps.list[k];
    must(e->core < e->z && xc_ecp_core(e->core, electrons), "a core");
    must(e->l >= 0 && e->l <= XC_MAX_ECP_L && e->n >= 0 && e->n <= XC_MAX_ECP_TERMS, "a potential");
    for (int t = 0; t < e->n; t++) {
      const xc_ecp_term *term = &e->terms[t];
      must(term->l >= 0 && term->l <= e->l && term->power >= 0 && term->power <= 2, "a term");
      must(term->exponent > 0 && isfinite(term->coefficient), "numbers of a term");
    }
  }
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

static void try_frames(const char *text, int64_t n) {
  static const char *const ranges[] = {"all", "2:", ":2", "1:9:2"};
  xc_frames frames;
  for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
    if (!taken(xc_frames_parse("fuzz", text, n, &frames))) {
      must(frames.atoms == NULL && frames.number == NULL, "frames of a refused file");
      return;
    }
    const int64_t there = frames.n;
    if (taken(xc_frames_choose(ranges[k], &frames)))
      must(frames.n >= 1 && frames.n <= there && frames.number[frames.n - 1] <= there, "frames");
    xc_frames_clear(&frames);
  }
}

/* Point charges are read from a file. */
static void try_charges(const uint8_t *data, size_t n_bytes) {
  static int file = -1;
  static char path[40];
  xc_molecule m = {0};
  if (file < 0) file = memfd_create("fuzz_charges", 0);
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  must(ftruncate(file, 0) == 0 && pwrite(file, data, n_bytes, 0) == (ssize_t)n_bytes, "writing");
  if (taken(xc_molecule_read_charges(path, &m))) {
    must(m.n_charges > 0, "no charges");
    for (int64_t k = 0; k < m.n_charges; k++)
      for (int x = 0; x < 3; x++)
        must(isfinite(m.charges[k].at[x]) && isfinite(m.charges[k].q), "a charge");
  }
  xc_molecule_clear(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  const char *text = (const char *)data;
  const int64_t n = (int64_t)n_bytes;
  xc_molecule m = {0};
  xc_model model;
  xc_set set, fitting;
  if (taken(xc_molecule_parse_xyz("fuzz", text, n, &m))) check_molecule(&m);
  try_frames(text, n);
  memset(&m, 0, sizeof m);
  if (taken(xc_molecule_parse_json("fuzz", text, n, &m, &model)))
    check_molecule(&m);
  else
    must(m.atoms == NULL, "atoms of a refused file");
  if (taken(xc_set_parse("fuzz", text, n, &set))) check_set(&set);
  if (taken(xc_set_parse_lio("fuzz", text, n, &set, &fitting))) {
    check_set(&set);
    if (fitting.n > 0) check_set(&fitting); /* a file may have one block an element */
    xc_set_clear(&fitting);
  }
  (void)xc_set_is_lio(text, n);
  try_charges(data, n_bytes);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {
    "3\nwater\nO 0 0 0.1\nH 0.7 0 -0.4\nH -0.7 0 -0.4\n",
    "2\n\nO 0 0 0\nH 0 0 1\n\n2\nProperties=species:S:1:pos:R:3\nO 0 0 0\nH 0 0 1\n",
    "{\"molecule\": {\"symbols\": [\"O\", \"H\"], \"geometry\": [0, 0, 0, 0, 0.0, 1.8e0], "
    "\"molecular_charge\": -1, \"real\": [true, true]}, \"model\": {\"method\": \"PBE\"}}",
    "BASIS \"a\" SPHERICAL\nO SP\n 1.0D+01 0.5 0.6\n 2 .25 1e-1\nH S\n 3 1 0\n 1 .5 .5\nEND\n",
    "****\nO 0\nSP 2 1.00\n 1.0D+01 0.5 0.6\n 2 1 1\nD 1 2.0\n 0.8 1.0\n****\nH 0\nS 1\n1 "
    "1\n****",
    "gaussian\n 8 3 2\n 2 1\n 0 2\n 5 .1\n 4 .2\n .8 1\n 8 1 1\n 1\n 0\n9 1\nendbasis\n",
    "x y z q\n0 0 1.5 0.4\n-1 2e0 0 -0.4\n",
    "0,1,1.7e308,0.5\n",
    ""};

static const char tokens[] = "\r\1\n\1 \1\t\1#\1!\1*\1-\1+\1.\1"
                             "0\1"
                             "1\1"
                             "2\1"
                             "9\1e\1E\1d\1D\1S\1P\1G\1H\1O\1h\1\"\1[\1]\1{\1}\1,\1:\1****\1END";

FUZZ_MAIN("fuzz_xc_input", "texts")

#endif
