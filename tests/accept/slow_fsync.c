/* A disk whose fsync takes TSL_TEST_FSYNC seconds, for LD_PRELOAD. Each call is noted in the file
 * TSL_TEST_FSYNC_LOG: "main" or "beside", whichever thread of the process it was, and the name of
 * what was synced. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void note(int fd) {
  const char *log = getenv("TSL_TEST_FSYNC_LOG");
  const int is_main = syscall(SYS_gettid) == getpid();
  char link[64], name[1000] = "", line[1100];
  int to = -1, n = 0;
  if (log == NULL) return;
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (readlink(link, name, sizeof name - 1) < 0) (void)strcpy(name, "?");
  n = snprintf(line, sizeof line, "%s %s\n", is_main ? "main" : "beside", name);
  to = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (to < 0 || write(to, line, (size_t)n) != n) abort();
  (void)close(to);
}

static int slowly(const char *name, int fd) {
  int (*real)(int) = NULL;
  const char *text = getenv("TSL_TEST_FSYNC");
  const double seconds = text != NULL ? strtod(text, NULL) : 0;
  struct timespec left = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  void *const found = dlsym(RTLD_NEXT, name);
  memcpy(&real, &found, sizeof real);
  note(fd);
  while (nanosleep(&left, &left) != 0) continue;
  return real(fd);
}

int fsync(int fd) {
  return slowly("fsync", fd);
}

int fdatasync(int fd) {
  return slowly("fdatasync", fd);
}
