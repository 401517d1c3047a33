/* gpu.triples: the card's backend of triples gives the socket's bytes, whatever the cut.
 * usage: test_triples_gpu [--small]   --small: fewer points, for sanitizers
 * Exit status 77: no card. */
#include "triples_fixture.h"

extern const tsl_backend triples_backend_cpu, triples_backend_gpu;

static tsl_device card, host;
static int failures;

static void compare(const char *section, const char *precision, int64_t wish) {
  static char text[2048];
  double seconds;
  made m;
  (void)snprintf(text, sizeof text, "%s  precision: %s\n", section, precision);
  make(text, &m);
  char *const want = computed(&m, &triples_backend_cpu, &host, 1, &seconds);
  char *const got = computed(&m, &triples_backend_gpu, &card, wish, &seconds);
  if (memcmp(want, got, (size_t)out_bytes(&m.problem)) != 0) {
    failures++;
    for (int64_t e = 0; e < out_bytes(&m.problem) / 8; e++) {
      if (memcmp(want + 8 * e, got + 8 * e, 8) == 0) continue;
      double a, b;
      memcpy(&a, want + 8 * e, 8), memcpy(&b, got + 8 * e, 8);
      printf("FAILED %s%s, %lld units: element %lld, socket %.17g, card %.17g\n", section,
             precision, (long long)wish, (long long)e, a, b);
      break;
    }
  }
  free(want);
  free(got);
  release(&m);
}

/* A longer one, timed. */
static void compare_large(const char *section) {
  double seconds[2];
  made m;
  make(section, &m);
  char *const want = computed(&m, &triples_backend_cpu, &host, 9, &seconds[0]);
  char *const got = computed(&m, &triples_backend_gpu, &card, 2, &seconds[1]);
  const bool same = memcmp(want, got, (size_t)out_bytes(&m.problem)) == 0;
  printf("%ssocket %.3f s, card %.4f s: %s\n", section, seconds[0], seconds[1],
         same ? "the same bytes" : "FAILED, other bytes");
  failures += !same;
  free(want);
  free(got);
  release(&m);
}

/* All sections with a word in them, whatever the cut. */
static void compare_all(const char *word) {
  for (int s = 0; triples_sections[s] != NULL; s++)
    for (int p = 0; p < 2 && strstr(triples_sections[s], word) != NULL; p++)
      for (int64_t wish = 1; wish <= 7; wish += 3)
        compare(triples_sections[s], p == 0 ? "fp32" : "fp64", wish);
}

int main(int argc, char **argv) {
  const char *why = "";
  const bool small = argc > 1 && strcmp(argv[1], "--small") == 0;
  if (tsl_platform_gpu.count(&why) == 0) {
    printf("skipped: %s\n", why);
    return 77;
  }
  must(tsl_platform_gpu.describe(0, &card), "describe");
  must(tsl_platform_gpu.select(&card), "select");
  write_points(701);
  compare_all("");
  card.memory_limit = 1 << 20; /* sides with some third points at a time */
  compare_all("axilrod_teller");
  card.memory_limit = 0;
  if (!small) {
    compare_large("  function: axilrod_teller\n  generator: {kind: uniform, n: 9000}\n");
    compare_large("  function: axilrod_teller\n  precision: fp64\n  cutoff: 0.5\n  generator: "
                  "{kind: plummer, n: 4100}\n");
    write_points(3001);
    compare_large(TRIPLES_SUMS_OF(TRIPLES_YUKAWA));
    compare_large("  precision: fp64\n  output: sums\n" TRIPLES_SUMS_OF(TRIPLES_YUKAWA));
    compare_large("  function: triangles\n  bins: 10\n  range: [0, 0.05]\n  box: [1, 1, 1]\n  "
                  "generator: {kind: uniform, n: 200000}\n");
    compare_large("  function: triangles\n  bins: 40\n  precision: fp64\n  range: [0, 0.2]\n  "
                  "generator: {kind: clusters, n: 6000, scale: 0.05}\n");
  }
  (void)remove(TRIPLES_FILE);
  printf("%s\n", failures == 0 ? "all equal" : "FAILED");
  return failures != 0;
}
