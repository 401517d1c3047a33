/* The progress line with its ETA, and the monotonic clock of the runtime. */
#include "progress.h"
#include "clock.h"

#include <stdio.h>
#include <unistd.h>

static const double TERMINAL_EVERY = 0.2, LOG_EVERY = 10; /* s */

void tsl_progress_start(tsl_progress *p, bool quiet) {
  const double now = tsl_now();
  *p = (tsl_progress){
      .quiet = quiet, .terminal = isatty(STDERR_FILENO) != 0, .start = now, .last = now};
}

bool tsl_progress_due(const tsl_progress *p) {
  return !p->quiet && tsl_now() - p->last >= (p->terminal ? TERMINAL_EVERY : LOG_EVERY);
}

static void print_duration(double seconds) {
  const long s = (long)(seconds + 0.5);
  if (s >= 3600)
    fprintf(stderr, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else
    fprintf(stderr, "%ld:%02ld", s / 60, s % 60);
}

void tsl_progress_update(tsl_progress *p, double fraction) {
  enum { BAR = 30 };
  const double now = tsl_now(), done = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
  const double left = done > p->first ? (now - p->start) * (1 - done) / (done - p->first) : 0;
  if (p->quiet) return;
  p->last = now;
  if (p->terminal) {
    char bar[BAR + 1];
    for (int k = 0; k < BAR; k++) bar[k] = k < (int)(done * BAR + 0.5) ? '#' : '.';
    bar[BAR] = '\0';
    fprintf(stderr, "\r  [%s] %5.1f %%  left ", bar, 100 * done);
    p->shown = true;
  } else {
    fprintf(stderr, "tesela: %5.1f %% done, left ", 100 * done);
  }
  print_duration(left);
  fprintf(stderr, p->terminal ? "   " : "\n");
  fflush(stderr);
}

void tsl_progress_end(tsl_progress *p) {
  if (p->shown) fprintf(stderr, "\r%60s\r", "");
  p->shown = false;
}
