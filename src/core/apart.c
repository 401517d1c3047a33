/* A part of the program in a process of its own. */
#include "apart.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 10, GIB_MORE = 8 };

/** How the part ended: memory of both processes. */
typedef struct ending {
  volatile bool ended; /* set last */
  tsl_err_copy error;
} ending;

/* ---- the part's process */

/* From now on it may compute for SECONDS; the processor time so far does not count. */
static void renew_time(void) {
  struct rusage used;
  struct rlimit limit;
  if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0) return;
  limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + SECONDS;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_CPU, &limit);
}

static void limit_memory(void) {
  struct rlimit limit;
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  const bool known = file != NULL && fscanf(file, "%llu", &pages) == 1;
  if (file != NULL) (void)fclose(file);
  if (!known || getrlimit(RLIMIT_AS, &limit) != 0) return;
  const rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)GIB_MORE << 30);
  if (most < limit.rlim_cur) limit.rlim_cur = most;
  (void)setrlimit(RLIMIT_AS, &limit);
}

/* Leaves without the exit routines of the libraries, which belong to the program. */
static _Noreturn void run_part(const tsl_apart_sides *sides, int to, pid_t program, ending *end) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != program) _exit(1);
  (void)signal(SIGPIPE, SIG_DFL);
  (void)signal(SIGXCPU, SIG_DFL);
  renew_time();
  limit_memory();
  tsl_err_save(sides->part(sides->arg, to), &end->error);
  (void)fflush(stdout);
  end->ended = true;
  _exit(0);
}

tsl_err tsl_apart_put(int to, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  const char *from = bytes;
  while (n > 0) {
    const ssize_t put = write(to, from, (size_t)n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) TSL_FAIL(TSL_ERR_IO, "cannot hand on what was read: %s", strerror(errno));
    from += put, n -= put;
  }
  renew_time();
done:
  return err;
}

/* ---- the program */

tsl_err tsl_apart_get(int from, void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  char *to = bytes;
  while (n > 0) {
    const ssize_t got = read(from, to, (size_t)n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) TSL_FAIL(TSL_ERR_INPUT, "the reader of a file has ended too early");
    to += got, n -= got;
  }
done:
  return err;
}

static void wait_for(pid_t child, int *status) {
  while (waitpid(child, status, 0) < 0 && errno == EINTR) continue;
}

static tsl_err outcome(const char *path, const ending *end, int status, tsl_err taken) {
  tsl_err err = TSL_OK;
  if (end->ended && end->error.code != TSL_OK) return tsl_err_restore(&end->error);
  if (end->ended || (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)) return taken;
  TSL_FAIL(TSL_ERR_INPUT, "%s is damaged: the library that reads it cannot get through it (%s)",
           path, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended the process");
done:
  return err;
}

static tsl_err start(const char *path, const tsl_apart_sides *sides, ending *end, pid_t *child,
                     int *from) {
  tsl_err err = TSL_OK;
  int ends[2] = {-1, -1};
  const pid_t program = getpid();
  (void)fflush(NULL);
  if (pipe(ends) != 0 || (*child = fork()) < 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "cannot start a reader of '%s': %s", path, strerror(errno));
  if (*child == 0) {
    (void)close(ends[0]);
    run_part(sides, ends[1], program, end);
  }
  *from = ends[0];
  ends[0] = -1;
done:
  if (ends[0] >= 0) (void)close(ends[0]);
  if (ends[1] >= 0) (void)close(ends[1]);
  return err;
}

tsl_err tsl_apart(const char *path, const tsl_apart_sides *sides) {
  tsl_err err = TSL_OK;
  int from = -1, status = 0;
  pid_t child = -1;
  ending *end = mmap(NULL, sizeof *end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (end == MAP_FAILED)
    return tsl_fail(TSL_ERR_MEMORY, __FILE__, __LINE__, "no memory for a reader of '%s'", path);
  TSL_TRY(start(path, sides, end, &child, &from));
  if (sides->take != NULL) err = sides->take(sides->arg, from);
  (void)close(from); /* a part that still writes ends by it */
  wait_for(child, &status);
  err = outcome(path, end, status, err);
done:
  (void)munmap(end, sizeof *end);
  return err;
}
