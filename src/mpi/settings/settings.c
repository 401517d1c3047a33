/* Key tables of `run:` and `output:`, and checks of keys that depend on each other. */
#include "settings.h"

const char *const tsl_plan_words[] = {"strips", "lpt", "bins", "roundrobin", "share", NULL};
const char *const tsl_useful_words[] = {"useful", "all", NULL};

#define RUN(member) offsetof(tsl_run_settings, member)
#define OUTPUT(member) offsetof(tsl_output_settings, member)

static const char *const calibrate_words[] = {"auto", "always", "probe", NULL};

const tsl_key tsl_run_keys[] = {
    TSL_TEXT_KEY(
        "device", RUN(device), "auto",
        "auto (cards first, then sockets), gpu, cpu, or one word per local rank: gpu0,gpu1,cpu"),
    TSL_INT_KEY("threads", RUN(threads), "0", 0, 4096,
                "OpenMP threads of a CPU rank; 0: all cores of its share of the socket"),
    TSL_CHOICE_KEY("plan", RUN(plan), "strips", tsl_plan_words,
                   "how units are dealt to ranks before the run"),
    TSL_REAL_KEY("dynamic", RUN(dynamic), "1", 0, 1,
                 "part of a rank's units, from the last on, that ranks with nothing left may take "
                 "while it has not begun them, 0 to 1; plan share: none"),
    TSL_CHOICE_KEY("ranks", RUN(ranks), "useful", tsl_useful_words,
                   "useful: slow ranks that would cost more time than they save are left out; all: "
                   "every rank takes part, as with plans roundrobin and share"),
    TSL_BOOL_KEY("rebalance", RUN(rebalance), "yes",
                 "families with several phases (xc): between phases units move from slow ranks to "
                 "fast ones by measured times (plan share: never)"),
    TSL_REAL_KEY(
        "rebalance_threshold", RUN(rebalance_threshold), "0.02", 0, 10,
        "units move while the slowest rank's time exceeds the fastest one's by more than this"),
    TSL_REAL_KEY(
        "gpu_share", RUN(gpu_share), "", 0, 1,
        "plan share only, required there: part of the domain, 0 to 1, for the cards, the rest "
        "goes to the sockets; with cards alone or sockets alone: for rank 0, the rest to the "
        "others"),
    TSL_INT_KEY("units", RUN(units), "0", 0, 1e6, "wanted number of units; 0: automatic"),
    TSL_BYTES_KEY("memory", RUN(memory), "1 GiB", 1 << 20, 1e15,
                  "host memory of one rank for results in flight"),
    TSL_BYTES_KEY("host_memory", RUN(host_memory), "", 1 << 20, 1e15,
                  "host memory that a rank may use for what it keeps and works in (xc, recovery of "
                  "dp); default half of what the host, or the job's control group, has free, split "
                  "among the host's ranks"),
    TSL_REAL_KEY("device_memory", RUN(device_memory), "0.8", 0.01, 0.95,
                 "share of a card's free memory that a rank may use"),
    TSL_CHOICE_KEY(
        "calibrate", RUN(calibrate), "auto", calibrate_words,
        "auto: measure a device once and remember; always: measure now; probe (`tesela plan` "
        "alone): do not measure, guess from what `tesela probe` measured"),
    TSL_TEXT_KEY(
        "calibration", RUN(calibration), "",
        "calibration file, to which lines are added; default $XDG_CACHE_HOME/tesela/calibration"),
    TSL_REAL_KEY("checkpoint", RUN(checkpoint), "600", 0, 1e9,
                 "seconds between checkpoints; 0: none"),
    TSL_REAL_KEY("watchdog", RUN(watchdog), "1800", 0, 1e9,
                 "seconds after which a unit that does not end ends the job, 20 times its "
                 "prediction at least; 0: never"),
    TSL_REAL_KEY(
        "heartbeat", RUN(heartbeat), "60", 0, 1e6,
        "seconds, 0.1 or more, without a sign of life of a rank (stopped, swapped out, host or "
        "network gone) after which the others save what they can and the job ends; 0: never"),
    TSL_BOOL_KEY("allow_shared_gpu", RUN(allow_shared_gpu), "no", "let several ranks use one card"),
    {0}};

const tsl_key tsl_output_keys[] = {
    TSL_TEXT_KEY("file", OUTPUT(file), "",
                 "HDF5 file; default: the deck's name with .h5 in the working folder"),
    TSL_BOOL_KEY(
        "overwrite", OUTPUT(overwrite), "no",
        "replace existing files, the output and those beside it, when the run has succeeded"),
    TSL_INT_KEY("compress", OUTPUT(compress), "0", 0, 9,
                "deflate level of large datasets, 0 to 9 (serial HDF5 only)"),
    {0}};

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
