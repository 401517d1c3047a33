/* Sizes are multiplied with overflow checks, memory comes zeroed at 64-byte alignment, and free
 * memory and process limits are read from the system. */
#include "memory.h"

#include "cgroup.h"
#include "launcher.h"
#include "parallel.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* The system hands out pages as they are zeroed, which takes as long as much of what is done with
 * them: a thread takes ZEROED bytes at a time. LARGE memory is asked for beforehand. */
enum { ALIGNMENT = 64, ZEROED = 1 << 20, LARGE = 64 << 20 };

bool tsl_mul_i64(int64_t a, int64_t b, int64_t *out) {
  int64_t product;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) return false;
  *out = product;
  return true;
}

bool tsl_add_i64(int64_t a, int64_t b, int64_t *out) {
  int64_t sum;
  if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum)) return false;
  *out = sum;
  return true;
}

bool tsl_pairs_i64(int64_t n, int64_t *out) {
  if (n < 0) return false;
  if (n == 0) return (*out = 0), true;
  return n % 2 == 0 ? tsl_mul_i64(n / 2, n - 1, out) : tsl_mul_i64(n, (n - 1) / 2, out);
}

/* Test knob TSL_TEST_NO_MEMORY=RANK:N: allocation N (from 0) of the launcher's rank fails. */
static bool is_refused(void) {
  static atomic_long allocations;
  const char *text = getenv("TSL_TEST_NO_MEMORY");
  long rank = 0, n = 0;
  if (text == NULL || sscanf(text, "%ld:%ld", &rank, &n) != 2) return false;
  return rank == tsl_launcher_rank() && atomic_fetch_add(&allocations, 1) == n;
}

/* Bytes of a line of /proc/meminfo, or -1. */
static int64_t meminfo(const char *name) {
  char line[160], word[64];
  long long kib = -1;
  FILE *file = fopen("/proc/meminfo", "r");
  if (file == NULL) return -1;
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "%63[^:]: %lld kB", word, &kib) == 2 && strcmp(word, name) == 0) break;
  const bool found = feof(file) == 0;
  (void)fclose(file);
  return found ? (int64_t)kib * 1024 : -1;
}

int64_t tsl_memory_free(void) {
  const int64_t of_host = meminfo("MemAvailable"), of_groups = tsl_cgroup_free("");
  return of_groups < of_host ? of_groups : of_host;
}

/* Linux hands out more memory than a control group may have, and kills who writes to it. What the
 * host has is not asked: where its figures are made up, as in sandboxes, more may be there. */
static tsl_err check_large(int64_t bytes, const char *what) {
  tsl_err err = TSL_OK;
  char need[24], have[24];
  if (bytes < LARGE) return TSL_OK;
  const int64_t left = tsl_cgroup_free(""), swap = meminfo("SwapFree");
  if (bytes - left > (swap > 0 ? swap : 0))
    TSL_FAIL(TSL_ERR_MEMORY, "%s: no host memory for %s, as its control group may take %s more",
             what, tsl_bytes_text((double)bytes, need), tsl_bytes_text((double)left, have));
done:
  return err;
}

/* Large memory wishes for huge pages: the fewer there are, the less time they take to be handed out
 * and found. */
static void *take_memory(int64_t bytes) {
  const int64_t huge = (int64_t)2 << 20;
  void *memory = NULL;
  if (bytes < huge) return aligned_alloc(ALIGNMENT, (size_t)bytes);
  if (posix_memalign(&memory, (size_t)huge, (size_t)bytes) != 0) return NULL;
#ifdef MADV_HUGEPAGE
  (void)madvise(memory, (size_t)bytes, MADV_HUGEPAGE); /* refusal is fine */
#endif
  return memory;
}

static tsl_err zero_range(void *context, int slot, int64_t lo, int64_t hi) {
  (void)slot;
  memset((char *)context + lo, 0, (size_t)(hi - lo));
  return TSL_OK;
}

tsl_err tsl_alloc(int64_t count, size_t size, const char *what, void **out) {
  tsl_err err = TSL_OK;
  char text[24];
  int64_t bytes = 0;
  void *memory = NULL;
  *out = NULL;
  if (!tsl_mul_i64(count, (int64_t)size, &bytes) ||
      !tsl_add_i64(bytes, (int64_t)2 * ALIGNMENT, &bytes))
    TSL_FAIL(TSL_ERR_MEMORY, "%s: %lld elements of %zu bytes overflow the address space", what,
             (long long)count, size);
  bytes = bytes / ALIGNMENT * ALIGNMENT;
  TSL_TRY(check_large(bytes, what));
  memory = is_refused() ? NULL : take_memory(bytes);
  if (memory == NULL)
    TSL_FAIL(TSL_ERR_MEMORY, "%s: no host memory for %s", what,
             tsl_bytes_text((double)bytes, text));
  TSL_TRY(tsl_parallel(bytes, ZEROED, zero_range, memory));
  *out = memory;
done:
  return err;
}

tsl_err tsl_grow(void **list, int64_t n, int64_t more, int64_t *room, size_t size,
                 const char *what) {
  tsl_err err = TSL_OK;
  int64_t wanted = *room > 0 ? 2 * *room : 16;
  void *memory = NULL;
  if (more <= *room - n) return TSL_OK;
  if (wanted - n < more) wanted = n + more;
  TSL_TRY(tsl_alloc(wanted, size, what, &memory));
  if (n > 0) memcpy(memory, *list, (size_t)n * size);
  tsl_free(*list);
  *list = memory, *room = wanted;
done:
  return err;
}

void tsl_free(void *memory) {
  free(memory);
}

void tsl_free_list(void *const *list, int n) {
  for (int k = 0; k < n; k++) free(list[k]);
}

char *tsl_bytes_text(double bytes, char text[24]) {
  static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int u = 0;
  while (bytes >= 1024 && u < 5) bytes /= 1024, u++;
  (void)snprintf(text, 24, u == 0 ? "%.0f %s" : "%.1f %s", bytes, unit[u]);
  return text;
}

char *tsl_limits_text(char text[200]) {
  static const struct {
    int which;
    const char *what, *option;
    bool bytes;
  } table[] = {{RLIMIT_AS, "address space", "-v", true},
               {RLIMIT_DATA, "data", "-d", true},
               {RLIMIT_NPROC, "processes and threads", "-u", false}};
  size_t used = 0;
  text[0] = '\0';
  for (size_t k = 0; k < sizeof table / sizeof *table && used < 200; k++) {
    struct rlimit limit;
    char amount[24];
    if (getrlimit(table[k].which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    if (table[k].bytes)
      (void)tsl_bytes_text((double)limit.rlim_cur, amount);
    else
      (void)snprintf(amount, sizeof amount, "%llu", (unsigned long long)limit.rlim_cur);
    used +=
        (size_t)snprintf(text + used, 200 - used, "%s%s %s (ulimit %s)",
                         used == 0 ? "; limits: " : ", ", table[k].what, amount, table[k].option);
  }
  return text;
}
