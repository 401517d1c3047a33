/* Any bytes as a parameter file of foldings, alone and as a part of a whole file: read or refused
 * with a message, and what is read has energies that foldings can add. */
#include "fuzz_driver.h"
#include "rna_params.h"

/** Sections of a whole file and how many numbers they have. */
static const struct {
  const char *name;
  int n;
} tables[] = {{"stack", 49},
              {"mismatch_hairpin", 175},
              {"mismatch_internal", 175},
              {"mismatch_internal_1n", 175},
              {"mismatch_internal_23", 175},
              {"mismatch_multi", 175},
              {"mismatch_exterior", 175},
              {"dangle5", 35},
              {"dangle3", 35},
              {"int11", 1225},
              {"int21", 6125},
              {"int22", 9216},
              {"hairpin", 31},
              {"bulge", 31},
              {"internal", 31}};
enum { N_TABLES = sizeof tables / sizeof tables[0], ROOM = 1 << 18 };

/** A whole file of zeros, with the bytes put in behind the section `where`. */
static size_t write_whole(const char *bytes, size_t n, size_t where, char *text) {
  size_t at = (size_t)sprintf(text, "## RNAfold parameter file v2.0\n");
  for (size_t k = 0; k < N_TABLES; k++)
    for (int side = 0; side < 2; side++) {
      at += (size_t)sprintf(text + at, "# %s%s\n", tables[k].name, side == 1 ? "_enthalpies" : "");
      for (int x = 0; x < tables[k].n; x++) at += (size_t)sprintf(text + at, "0 ");
      text[at++] = '\n';
      if (where == k && side == 0) {
        memcpy(text + at, bytes, n);
        at += n;
        text[at++] = '\n';
      }
    }
  at +=
      (size_t)sprintf(text + at, "# ML_params\n0 0 0 0 0 0\n# NINIO\n60 320 300\n# Misc\n0 0 50 370"
                                 "\n# Hexaloops\n# Tetraloops\n# Triloops\n");
  if (where >= N_TABLES) {
    memcpy(text + at, bytes, n);
    at += n;
  }
  text[at] = '\0';
  return at;
}

static bool try_text(char *text, size_t n, rna_energy *energy) {
  enum { LETTERS = 50 };
  int32_t sizes[LETTERS + 1];
  const rna_ask ask = {.celsius = 50, .dangles = 2};
  char name[] = "fuzz";
  const rna_file file = {name, text, (int64_t)n};
  const tsl_err err = rna_params_parse(&file, &ask, energy, LETTERS, sizes);
  must(err == TSL_OK || (err == TSL_ERR_INPUT && tsl_err_message()[0] != '\0'), "refusal");
  if (err != TSL_OK) return false;
  const int32_t *list = (const int32_t *)(const void *)energy;
  for (size_t k = 0; k < sizeof *energy / sizeof *list; k++)
    must(list[k] > -(1 << 22) &&
             (list[k] < 1 << 22 || list[k] == RNA_FORBIDDEN || list[k] == RNA_NONE),
         "an energy out of range");
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  static char whole[ROOM];
  static rna_energy energy;
  char *text = malloc(n_bytes + 1);
  must(text != NULL, "malloc");
  memcpy(text, data, n_bytes);
  text[n_bytes] = '\0';
  (void)try_text(text, n_bytes, &energy);
  const size_t where = n_bytes > 0 ? data[0] % (N_TABLES + 1) : 0;
  const size_t n = write_whole(text, n_bytes, where, whole);
  const bool good = try_text(whole, n, &energy);
  must(good || n_bytes > 0, "zeros are read");
  free(text);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {
    "## RNAfold parameter file v2.0\n\n# stack\n/* CG */\n -240 INF DEF\n# END\n",
    "GAAAC 100 -200\nCUUUG INF 10\n",
    "/* a comment\n# stack\n of lines */\n",
    "# END\nanything\n",
    "# NINIO\n60 320 300\n",
    ""};

static const char tokens[] =
    "\n\1 \1\t\1#\1# \1##\1/*\1*/\1INF\1DEF\1NST\1stack\1int22\1_enthalpies\1Triloops\1"
    "Misc\1GAAAC\1-1\1"
    "0\1"
    "1048577\1"
    "1e3\1.5\1nan\1\r\1x\1*\1# END\n";

FUZZ_MAIN("fuzz_dp_fold", "texts")

#endif
