/* cpu.triples: the socket's backend gives the same bytes on every SIMD level, with any number of
 * threads and however the work is cut. What the numbers are accept.triples tests. */
#include "cases.h"
#include "cpu.h"
#include "levels.h"
#include "triples_fixture.h"

extern const tsl_backend triples_backend_cpu;

static int failures;

static char *at_level(made *m, int level, int threads, int64_t wish) {
  const char text[2] = {(char)('0' + level), 0};
  const tsl_device host = {.kind = TSL_CPU, .threads = threads, .capability = level};
  double seconds;
  if (level > 0) (void)setenv("TSL_SIMD", text, 1);
  return computed(m, &triples_backend_cpu, &host, wish, &seconds);
}

static void compare(const char *section, const char *precision) {
  static char text[2048];
  const int last = tsl_cpu_level(), least = lowest_level();
  made m;
  (void)snprintf(text, sizeof text, "%s  precision: %s\n", section, precision);
  make(text, &m);
  char *const want = at_level(&m, last, 1, 1);
  for (int level = last; level >= least; level--) {
    char *const got = at_level(&m, level, 2, 5);
    if (memcmp(want, got, (size_t)out_bytes(&m.problem)) != 0) {
      printf("FAILED level %d beside %d:\n%s", level, last, text);
      failures++;
    }
    free(got);
  }
  free(want);
  release(&m);
}

int main(void) {
  write_points(331);
  for (int s = 0; triples_sections[s] != NULL; s++) {
    if (case_is_mine(2 * s)) compare(triples_sections[s], "fp32");
    if (case_is_mine(2 * s + 1)) compare(triples_sections[s], "fp64");
  }
  (void)remove(TRIPLES_FILE);
  printf("%s\n", failures == 0 ? "all equal" : "FAILED");
  return failures != 0;
}
