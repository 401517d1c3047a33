/* The thread of heartbeats: what it sends, whom it misses, and how it ends a process that cannot
 * end itself. */
#include "heartbeat_own.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of patience (run.heartbeat): between beats; between looks; for rank 0 to answer who misses
 * another; by which the others let the leader speak first. */
static const double BEAT = 0.25, LOOK = 0.125, ASK = 0.375, AFTER = 0.5;
static const double LEAST_GRACE = 2; /* s that main threads have at least to hear the alarm */
static const double RESCUE = 600;    /* s in which a checkpoint is written */
static const double LEAST_START = 5; /* s after which a rank should have been heard of, at least */

/* ---- sending */

void tsl_heart_send(const tsl_heart *h, int to, tsl_beat_kind kind, int subject, double seconds) {
  tsl_beat b;
  memset(&b, 0, sizeof b); /* the bytes between members, too */
  memcpy(b.token, h->token, sizeof b.token);
  b.kind = kind, b.from = h->rank, b.to = to, b.subject = subject;
  b.state = atomic_load(&h->state);
  b.age = tsl_heart_age();
  b.unit = tsl_heart_last_unit();
  b.seconds = seconds;
  if (to != h->rank) tsl_post_send(&h->post, to, &b, sizeof b);
}

int tsl_heart_neighbour(const tsl_heart *h, int step) {
  int r = h->rank;
  do r = (r + step + h->size) % h->size;
  while (r != h->rank && atomic_load(&h->silent[r]));
  return r;
}

/* Where a rank has not been heard from, a sign is asked for: the answer tells the way. */
static void send_sign(const tsl_heart *h, int to) {
  tsl_heart_send(h, to, h->post.known[to].sin_port != 0 ? TSL_BEAT_SIGN : TSL_BEAT_ASKED, -1, 0);
}

static void tell_living(const tsl_heart *h, tsl_beat_kind kind, int subject, double seconds) {
  for (int r = 0; r < h->size; r++)
    if (!atomic_load(&h->silent[r])) tsl_heart_send(h, r, kind, subject, seconds);
}

static void send_signs(tsl_heart *h, double now) {
  const int next = tsl_heart_neighbour(h, 1);
  if (now < h->next) return;
  h->next = now + (atomic_load(&h->alarm) ? LOOK : BEAT) * h->patience;
  send_sign(h, next);
  if (next != 0) send_sign(h, 0);
}

/* ---- a silent rank */

static bool watches(const tsl_heart *h, int rank) {
  return rank != h->rank && (h->rank == 0 || rank == tsl_heart_neighbour(h, -1));
}

static void name_silent(const tsl_heart *h, int rank, double seconds) {
  const tsl_placement *placement = &h->placements[rank];
  const int64_t unit = h->watch.of[rank].unit;
  char last[40] = "no unit so far";
  if (unit >= 0) (void)snprintf(last, sizeof last, "last unit %lld", (long long)unit);
  fprintf(stderr,
          "tesela: error: rank %d on host %s (device %s, %s) has been silent for %.*f s: stopped, "
          "swapped out, or its host or network is gone (run.heartbeat: %g s); the job ends\n",
          rank, placement->host, placement->device.name, last, seconds < 10 ? 1 : 0, seconds,
          h->patience);
}

static double grace(const tsl_heart *h) {
  return h->patience > LEAST_GRACE ? h->patience : LEAST_GRACE;
}

static void lose(tsl_heart *h, int rank) {
  tsl_watch_lose(&h->watch, rank);
  atomic_store(&h->silent[rank], true);
}

/* The others wait for the leader, which may write a checkpoint. */
static void raise_alarm(tsl_heart *h, int leader, double now) {
  if (atomic_load(&h->alarm)) return;
  h->leader = leader;
  h->raised = now;
  h->until = now + grace(h) + (leader == h->rank ? 0 : RESCUE);
  atomic_store(&h->alarm, true);
}

/* This rank found it and speaks for the others. Who is lost while a checkpoint is written makes
 * that impossible. */
static void lead(tsl_heart *h, int rank, double seconds, double now) {
  name_silent(h, rank, seconds);
  lose(h, rank);
  atomic_store(&h->leads, true);
  if (h->found == 0) h->found = now;
  if (atomic_load(&h->alarm)) h->until = now + grace(h);
}

/* Ranks other than 0 ask it first: it may know of more. Without an answer it is silent, too. */
static void miss(tsl_heart *h, int rank, double now) {
  const double seconds = now - h->watch.of[rank].spoke;
  if (h->rank == 0 || rank == 0) {
    lead(h, rank, seconds, now);
    return;
  }
  if (h->asked == 0) h->asked = now;
  tsl_heart_send(h, 0, TSL_BEAT_MISSED, rank, seconds);
  if (now - h->asked < ASK * h->patience) return;
  lead(h, rank, seconds, now);
  if (!atomic_load(&h->silent[0])) lead(h, 0, now - h->asked, now);
}

/* The ranks of a host are found one after another: the alarm waits for those in doubt. */
static void heartbeat_thread_judge(tsl_heart *h, double now) {
  bool doubt = false;
  tsl_watch_look(&h->watch, now);
  for (int r = 0; r < h->size; r++) {
    if (!watches(h, r) || !tsl_watch_doubts(&h->watch, r, now)) continue;
    tsl_heart_send(h, r, TSL_BEAT_ASKED, -1, 0);
    if (tsl_watch_misses(&h->watch, r, now))
      miss(h, r, now);
    else
      doubt = true;
  }
  if (h->found == 0) return;
  if (!doubt || now > h->found + AFTER * h->patience) raise_alarm(h, h->rank, now);
}

/* The leader knows who can still take part. */
static void judge_main_threads(const tsl_heart *h, double now) {
  const bool late = now > h->raised + grace(h);
  for (int r = 0; r < h->size; r++)
    if (r != h->rank)
      atomic_store(&h->mute[r],
                   h->states[r] == TSL_MAIN_DONE || (late && h->states[r] == TSL_MAIN_DEAF));
}

/* The silent rank reads of it when it goes on. */
static void spread_loss(const tsl_heart *h, int rank) {
  tell_living(h, TSL_BEAT_LOST, rank, 0);
  tsl_heart_send(h, rank, TSL_BEAT_LOST, rank, 0);
}

static void spread_alarm(const tsl_heart *h, double now) {
  if (!atomic_load(&h->leads) || !atomic_load(&h->alarm)) return;
  judge_main_threads(h, now);
  if (atomic_load(&h->ending)) tell_living(h, TSL_BEAT_ENDED, -1, 0);
  for (int r = 0; r < h->size; r++)
    if (atomic_load(&h->silent[r])) spread_loss(h, r);
}

/* ---- taking */

/* The others have given this rank up; it goes on after a stop, say. */
static void end_as_lost(const tsl_heart *h) {
  fprintf(stderr,
          "tesela: error: rank %d on host %s had been silent for more than %g s, so the others "
          "have ended the job; it ends, too\n",
          h->rank, h->placements[h->rank].host, h->patience);
  _exit(tsl_err_status(TSL_ERR_LOST));
}

/* Somebody leads: rank 0 is lost when it is not rank 0. */
static void take_lost(tsl_heart *h, const tsl_beat *b, double now) {
  if (b->subject == h->rank) end_as_lost(h);
  if (b->from != 0) lose(h, 0);
  lose(h, b->subject);
  raise_alarm(h, b->from, now);
}

static void heartbeat_thread_take(tsl_heart *h, const tsl_beat *b, double now) {
  tsl_watch_heard(&h->watch, b->from, b->unit, now);
  if (b->kind == TSL_BEAT_ASKED) tsl_heart_send(h, b->from, TSL_BEAT_SIGN, -1, 0);
  if (b->kind == TSL_BEAT_LEFT) tsl_watch_left(&h->watch, b->from);
  h->states[b->from] = b->state;
  tsl_heart_heard_of(b->age);
  if (b->kind == TSL_BEAT_ENDED && !atomic_exchange(&h->ended, true)) h->until = now + LEAST_GRACE;
  if (b->subject < 0 || b->subject >= h->size) return;
  if (b->kind == TSL_BEAT_LOST) take_lost(h, b, now);
  if (b->kind == TSL_BEAT_MISSED && h->rank == 0 && !atomic_load(&h->silent[b->subject]))
    lead(h, b->subject, b->seconds, now);
}

static void take_all(tsl_heart *h) {
  tsl_beat b;
  struct sockaddr_in from;
  while (tsl_post_take(&h->post, &b, sizeof b, &from)) {
    const bool ours = memcmp(b.token, h->token, sizeof b.token) == 0 && b.to == h->rank;
    if (!ours || b.from < 0 || b.from >= h->size || b.from == h->rank) continue;
    if (atomic_load(&h->silent[b.from])) continue; /* for good */
    h->post.known[b.from] = from;
    heartbeat_thread_take(h, &b, tsl_now());
  }
}

/* ---- the end */

/* On the leader the main thread waits inside MPI for a rank that is silent, or for one that waits
 * for it; the others end when the leader has, in whatever way. */
static void end_in_time(tsl_heart *h, double now) {
  const bool leads = atomic_load(&h->leads);
  if (!atomic_load(&h->alarm)) return;
  if (leads && !h->extended && atomic_load(&h->state) != TSL_MAIN_DEAF) {
    h->extended = true;
    h->until = now + RESCUE;
  }
  if (now < h->until && (leads || !tsl_watch_misses(&h->watch, h->leader, now))) return;
  if (leads) tsl_heart_say("nothing more can be saved, as this rank waits for another; ");
  _exit(tsl_err_status(TSL_ERR_LOST));
}

/* Watched only from the first sign on: say who gave none. */
static void warn_once(tsl_heart *h, double now) {
  int n = 0, first = -1;
  if (h->rank != 0 || h->started == 0) return;
  if (now - h->started < (h->patience > LEAST_START ? h->patience : LEAST_START)) return;
  h->started = 0;
  for (int r = 1; r < h->size; r++)
    if (h->watch.of[r].life == TSL_LIFE_UNKNOWN && n++ == 0) first = r;
  if (n > 0)
    fprintf(stderr,
            "tesela: warning: no heartbeat comes from %d of %d ranks (the first is rank %d on host "
            "%s), so they are not watched; does a firewall stop UDP between the hosts? "
            "run.heartbeat: 0 does without\n",
            n, h->size, first, h->placements[first].host);
}

static void heartbeat_thread_look_around(tsl_heart *h, double now) {
  if (now < h->look && !atomic_load(&h->ending)) return;
  h->look = now + LOOK * h->patience;
  heartbeat_thread_judge(h, now);
  spread_alarm(h, now);
  warn_once(h, now);
}

void *tsl_heart_thread(void *arg) {
  tsl_heart *h = arg;
  while (!atomic_load(&h->stop)) {
    take_all(h);
    send_signs(h, tsl_now());
    heartbeat_thread_look_around(h, tsl_now());
    end_in_time(h, tsl_now());
    tsl_post_wait(&h->post, LOOK * h->patience);
  }
  return NULL;
}
