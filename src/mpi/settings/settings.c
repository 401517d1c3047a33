/* Key tables of `run:` and `output:`, and checks of keys that depend on each other. */
#include "settings.h"

const char *const tsl_plan_words[] = {"strips", "lpt", "bins", "roundrobin", "share", NULL};
const char *const tsl_useful_words[] = {"useful", "all", NULL};

#define RUN(member) offsetof(tsl_run_settings, member)
#define OUTPUT(member) offsetof(tsl_output_settings, member)

static const char *const calibrate_words[] = {"auto", "always", NULL};

const tsl_key tsl_run_keys[] = {
    {.name = "device",
     .type = TSL_KEY_TEXT,
     .offset = RUN(device),
     .standard = "auto",
     .doc =
         "auto (cards first, then sockets), gpu, cpu, or one word per local rank: gpu0,gpu1,cpu"},
    {.name = "threads",
     .type = TSL_KEY_INT,
     .offset = RUN(threads),
     .standard = "0",
     .max = 4096,
     .doc = "OpenMP threads of a CPU rank; 0: all cores of its share of the socket"},
    {.name = "plan",
     .type = TSL_KEY_CHOICE,
     .offset = RUN(plan),
     .standard = "strips",
     .choices = tsl_plan_words,
     .doc = "how units are dealt to ranks before the run"},
    {.name = "dynamic",
     .type = TSL_KEY_REAL,
     .offset = RUN(dynamic),
     .standard = "1",
     .max = 1,
     .doc = "part of a rank's units, from the last on, that ranks with nothing left may take while "
            "it has not begun them, 0 to 1; plan share: none"},
    {.name = "ranks",
     .type = TSL_KEY_CHOICE,
     .offset = RUN(ranks),
     .standard = "useful",
     .choices = tsl_useful_words,
     .doc = "useful: slow ranks that would cost more time than they save are left out; all: every "
            "rank takes part until measured times tell against it (run.rebalance; plans roundrobin "
            "and share: always all)"},
    {.name = "rebalance",
     .type = TSL_KEY_BOOL,
     .offset = RUN(rebalance),
     .standard = "yes",
     .doc = "families with several phases (xc): between phases units move from slow ranks to fast "
            "ones by measured times (plan share: never)"},
    {.name = "rebalance_threshold",
     .type = TSL_KEY_REAL,
     .offset = RUN(rebalance_threshold),
     .standard = "0.02",
     .max = 10,
     .doc = "units move while the slowest rank's time exceeds the fastest one's by more than this"},
    {.name = "gpu_share",
     .type = TSL_KEY_REAL,
     .offset = RUN(gpu_share),
     .standard = "",
     .max = 1,
     .doc = "plan share only, required there: part of the domain, 0 to 1, for the cards (without "
            "cards: for rank 0); the rest goes to the sockets"},
    {.name = "units",
     .type = TSL_KEY_INT,
     .offset = RUN(units),
     .standard = "0",
     .max = 1e6,
     .doc = "wanted number of units; 0: automatic"},
    {.name = "memory",
     .type = TSL_KEY_BYTES,
     .offset = RUN(memory),
     .standard = "1 GiB",
     .min = 1 << 20,
     .max = 1e15,
     .doc = "host memory of one rank for results in flight"},
    {.name = "host_memory",
     .type = TSL_KEY_BYTES,
     .offset = RUN(host_memory),
     .standard = "",
     .min = 1 << 20,
     .max = 1e15,
     .doc = "host memory that a rank may use for what it keeps and works in (xc, recovery of dp); "
            "default half of the host's free memory, split among its ranks"},
    {.name = "device_memory",
     .type = TSL_KEY_REAL,
     .offset = RUN(device_memory),
     .standard = "0.8",
     .min = 0.01,
     .max = 0.95,
     .doc = "share of a card's free memory that a rank may use"},
    {.name = "calibrate",
     .type = TSL_KEY_CHOICE,
     .offset = RUN(calibrate),
     .standard = "auto",
     .choices = calibrate_words,
     .doc = "auto: measure a device once and remember; always: measure now"},
    {.name = "calibration",
     .type = TSL_KEY_TEXT,
     .offset = RUN(calibration),
     .standard = "",
     .doc =
         "calibration file, to which lines are added; default $XDG_CACHE_HOME/tesela/calibration"},
    {.name = "checkpoint",
     .type = TSL_KEY_REAL,
     .offset = RUN(checkpoint),
     .standard = "600",
     .max = 1e9,
     .doc = "seconds between checkpoints; 0: none"},
    {.name = "watchdog",
     .type = TSL_KEY_REAL,
     .offset = RUN(watchdog),
     .standard = "1800",
     .max = 1e9,
     .doc = "seconds after which a unit that does not end ends the job, 20 times its prediction at "
            "least; 0: never"},
    {.name = "heartbeat",
     .type = TSL_KEY_REAL,
     .offset = RUN(heartbeat),
     .standard = "60",
     .max = 1e6,
     .doc = "seconds, 0.1 or more, without a sign of life of a rank (stopped, swapped out, host or "
            "network gone) after which the others save what they can and the job ends; 0: never"},
    {.name = "allow_shared_gpu",
     .type = TSL_KEY_BOOL,
     .offset = RUN(allow_shared_gpu),
     .standard = "no",
     .doc = "let several ranks use one card"},
    {.name = NULL}};

const tsl_key tsl_output_keys[] = {
    {.name = "file",
     .type = TSL_KEY_TEXT,
     .offset = OUTPUT(file),
     .standard = "",
     .doc = "HDF5 file; default: the deck's name with .h5 in the working folder"},
    {.name = "overwrite",
     .type = TSL_KEY_BOOL,
     .offset = OUTPUT(overwrite),
     .standard = "no",
     .doc = "replace existing files, the output and those beside it, when the run has succeeded"},
    {.name = "compress",
     .type = TSL_KEY_INT,
     .offset = OUTPUT(compress),
     .standard = "0",
     .max = 9,
     .doc = "deflate level of large datasets, 0 to 9 (serial HDF5 only)"},
    {.name = NULL}};

/* A fixed share is named, and named for nothing else. */
static tsl_err check_share(const tsl_deck *deck, const tsl_run_settings *run) {
  tsl_err err = TSL_OK;
  const bool given = tsl_deck_given(deck, "run.gpu_share");
  if (given && run->plan != TSL_PLAN_SHARE)
    TSL_DECK_FAIL(deck, "run.gpu_share", "not used by plan %s; remove it or set run.plan: share",
                  tsl_plan_words[run->plan]);
  if (!given && run->plan == TSL_PLAN_SHARE)
    TSL_DECK_FAIL(deck, "run.plan",
                  "plan share needs run.gpu_share, 0 to 1: the part of the "
                  "domain for the cards; `tesela bench share` finds the best");
done:
  return err;
}

/* Less than this a busy machine takes to run a thread. */
static const double LEAST_HEARTBEAT = 0.1;

static tsl_err check_heartbeat(const tsl_deck *deck, const tsl_run_settings *run) {
  tsl_err err = TSL_OK;
  if (run->heartbeat > 0 && run->heartbeat < LEAST_HEARTBEAT)
    TSL_DECK_FAIL(deck, "run.heartbeat", "%g: 0 (never) or %g s and more", run->heartbeat,
                  LEAST_HEARTBEAT);
done:
  return err;
}

enum { MAX_FAMILIES = 16 };

static void family_names(const char *names[MAX_FAMILIES]) {
  int n = 0;
  for (; tsl_families[n] != NULL && n < MAX_FAMILIES - 1; n++) names[n] = tsl_families[n]->name;
  names[n] = NULL;
}

tsl_err tsl_settings_bind(tsl_deck *deck, const tsl_family **family, tsl_run_settings *run,
                          tsl_output_settings *output) {
  tsl_err err = TSL_OK;
  const char *names[MAX_FAMILIES];
  int which = 0;
  family_names(names);
  TSL_TRY(tsl_deck_top(deck, names, &which));
  *family = tsl_families[which];
  TSL_TRY(tsl_deck_bind(deck, "run", tsl_run_keys, sizeof *run, run));
  TSL_TRY(check_share(deck, run));
  TSL_TRY(check_heartbeat(deck, run));
  TSL_TRY(tsl_deck_bind(deck, "output", tsl_output_keys, sizeof *output, output));
done:
  return err;
}
