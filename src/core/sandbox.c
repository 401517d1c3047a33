/* A part of the program in a process of its own. */
#include "sandbox.h"

#include "memory.h"
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 10, GIB_MORE = 8 };

/** How the part ended: memory of all three processes. */
typedef struct ending {
  volatile bool ended; /* set last */
  tsl_err_copy error;
} ending;

/** The starter, seen by the program. */
typedef struct starter {
  pid_t process;
  int line; /* asks go there, exit statuses come back; closed: it ends */
  ending *end;
} starter;

/** Followed by n_ask bytes; the pipe's end travels beside it. */
typedef struct head {
  tsl_err (*part)(const void *ask, int to); /* valid over there: the same program at fork */
  int64_t n_ask;
} head;

/* Beside the statuses of waitpid, which are not negative: -errno of fork, or this. */
enum { NO_STARTER = -100000 };

static starter the_starter = {-1, -1, NULL};

/** Room for one file descriptor beside a message (cmsg(3)). */
typedef union beside {
  struct cmsghdr head;
  char room[CMSG_SPACE(sizeof(int))];
} beside;

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
static _Noreturn void run_part(const head *h, const void *ask, int to, ending *end) {
  (void)signal(SIGPIPE, SIG_DFL);
  (void)signal(SIGXCPU, SIG_DFL);
  renew_time();
  limit_memory();
  tsl_err err = h->part(ask, to);
  if (err == TSL_OK && (fflush(stdout) != 0 || ferror(stdout)))
    err = tsl_fail(TSL_ERR_IO, __FILE__, __LINE__, "cannot write to standard output: %s",
                   strerror(errno));
  tsl_err_save(err, &end->error);
  end->ended = true;
  _exit(0);
}

tsl_err tsl_sandbox_put(int to, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  if (!tsl_write_all(to, bytes, n))
    TSL_FAIL(TSL_ERR_IO, "cannot hand on what was read: %s", strerror(errno));
  renew_time();
done:
  return err;
}

tsl_err tsl_sandbox_get(int from, void *bytes, int64_t n) {
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

/* ---- the starter's process */

/* A process is not to outlive the one that it works for. */
static void end_with(pid_t parent) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

/* The next head, and the pipe's end. */
static bool receive(int line, head *h, int *to) {
  beside b = {0};
  struct iovec bytes = {h, sizeof *h};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &b, .msg_controllen = sizeof b};
  ssize_t got;
  do got = recvmsg(line, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
  if (got != (ssize_t)sizeof *h || c == NULL || c->cmsg_type != SCM_RIGHTS) return false;
  memcpy(to, CMSG_DATA(c), sizeof *to);
  return true;
}

/* Fork the part and wait for it. @return its status */
static int run_one(const head *h, const void *ask, int line, int to, ending *end) {
  const pid_t self = getpid();
  int status = 0;
  const pid_t child = fork();
  if (child < 0) status = -errno;
  if (child == 0) {
    (void)close(line);
    end_with(self);
    run_part(h, ask, to, end);
  }
  (void)close(to); /* the part's alone: its reader sees the end */
  if (child > 0) wait_for(child, &status);
  return status;
}

/* Signals to the program's group (mpirun, Ctrl-C) are the program's business. */
static _Noreturn void serve(pid_t program, int line, ending *end) {
  head h;
  int to;
  end_with(program);
  (void)prctl(PR_SET_NAME, "tesela-reader");
  (void)signal(SIGINT, SIG_IGN);
  (void)signal(SIGTERM, SIG_IGN);
  (void)signal(SIGUSR1, SIG_IGN);
  while (receive(line, &h, &to)) {
    void *ask = malloc((size_t)h.n_ask + 1);
    if (ask == NULL || tsl_sandbox_get(line, ask, h.n_ask) != TSL_OK) _exit(1);
    const int status = run_one(&h, ask, line, to, end);
    free(ask);
    if (tsl_sandbox_put(line, &status, (int64_t)sizeof status) != TSL_OK) _exit(1);
  }
  _exit(0);
}

/* ---- the program */

tsl_err tsl_sandbox_begin(void) {
  tsl_err err = TSL_OK;
  int ends[2] = {-1, -1};
  starter new = {-1, -1, MAP_FAILED};
  const pid_t program = getpid();
  if (the_starter.process > 0) return TSL_OK;
  (void)fflush(NULL);
  new.end = mmap(NULL, sizeof *new.end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (new.end == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
      (new.process = fork()) < 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "cannot start a reader of files: %s", strerror(errno));
  if (new.process == 0) {
    (void)close(ends[0]);
    serve(program, ends[1], new.end);
  }
  new.line = ends[0];
  ends[0] = -1;
  the_starter = new;
  new.end = MAP_FAILED;
done:
  if (new.end != MAP_FAILED) (void)munmap(new.end, sizeof *new.end);
  if (ends[0] >= 0) (void)close(ends[0]);
  if (ends[1] >= 0) (void)close(ends[1]);
  return err;
}

void tsl_sandbox_end(void) {
  int status;
  if (the_starter.process <= 0) return;
  (void)close(the_starter.line);
  wait_for(the_starter.process, &status);
  (void)munmap(the_starter.end, sizeof *the_starter.end);
  the_starter = (starter){-1, -1, NULL};
}

/* Head and ask, with the pipe's end beside. */
static bool send_ask(const tsl_sandbox_sides *sides, int line, int to) {
  head h = {sides->part, sides->n_ask};
  beside b = {0};
  struct iovec bytes = {&h, sizeof h};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &b, .msg_controllen = sizeof b};
  ssize_t put;
  b.head = (struct cmsghdr){
      .cmsg_len = CMSG_LEN(sizeof to), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&b.head), &to, sizeof to);
  do put = sendmsg(line, &message, MSG_NOSIGNAL);
  while (put < 0 && errno == EINTR);
  if (put != (ssize_t)sizeof h) return false;
  for (int64_t done = 0; done < sides->n_ask; done += put) {
    put = send(line, (const char *)sides->ask + done, (size_t)(sides->n_ask - done), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) put = 0;
    if (put < 0) return false;
  }
  return true;
}

static tsl_err outcome(const char *path, const ending *end, int status, tsl_err taken) {
  tsl_err err = TSL_OK;
  char limits[200];
  if (status < 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "cannot start a reader of '%s': %s%s", path,
             status == NO_STARTER ? "its starter has ended" : strerror(-status),
             tsl_limits_text(limits));
  if (end->ended && end->error.code != TSL_OK) return tsl_err_restore(&end->error);
  if (end->ended || (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)) return taken;
  TSL_FAIL(TSL_ERR_INPUT, "%s is damaged: the library that reads it cannot get through it (%s)",
           path, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended the process");
done:
  return err;
}

static tsl_err ask_starter(const char *path, const tsl_sandbox_sides *sides, int *from) {
  tsl_err err = TSL_OK;
  int ends[2] = {-1, -1};
  *the_starter.end = (ending){0};
  if (sides->n_ask < 0 || sides->n_ask > TSL_APART_MOST)
    TSL_FAIL(TSL_ERR_INPUT, "'%s' is asked for with too long names", path);
  if (pipe2(ends, O_CLOEXEC) != 0 || !send_ask(sides, the_starter.line, ends[1]))
    TSL_FAIL(TSL_ERR_INTERNAL, "cannot start a reader of '%s': %s", path, strerror(errno));
  *from = ends[0];
  ends[0] = -1;
done:
  if (ends[0] >= 0) (void)close(ends[0]);
  if (ends[1] >= 0) (void)close(ends[1]);
  return err;
}

tsl_err tsl_sandbox(const char *path, const tsl_sandbox_sides *sides) {
  tsl_err err = TSL_OK;
  const bool alone = the_starter.process <= 0;
  int from = -1, status = NO_STARTER;
  (void)fflush(NULL);
  TSL_TRY(tsl_sandbox_begin());
  TSL_TRY(ask_starter(path, sides, &from));
  if (sides->take != NULL) err = sides->take(sides->arg, from);
  (void)close(from); /* a part that still writes ends by it */
  if (tsl_sandbox_get(the_starter.line, &status, (int64_t)sizeof status) != TSL_OK)
    status = NO_STARTER;
  err = outcome(path, the_starter.end, status, err);
done:
  if (alone) tsl_sandbox_end();
  return err;
}
