/* The decision: cards first, then cores. Pure; the same data give the same result on any rank. */
#include "bind.h"

#include <ctype.h>
#include <string.h>

typedef enum want_kind { WANT_ANY, WANT_GPU, WANT_CPU } want_kind;

typedef struct want {
  want_kind kind;
  int32_t index; /* -1: which one does not matter */
} want;

typedef struct decision {
  const tsl_bind_ask *ask;
  const tsl_bind_host *host;
  tsl_bind_choice *choices;
  bool *cores;         /* [n_ranks][n_cores] */
  want *wants;         /* [n_ranks] */
  int32_t *card_owner; /* [n_cards], rank or -1 */
  bool *card_fixed;    /* [n_cards], asked for by number */
  bool *seen;          /* [n_cards], scratch */
  bool *core_taken;    /* [n_cores] */
  int32_t n_packages;
} decision;

static bool may_run(const decision *d, int32_t rank, int32_t core) {
  return d->host->may_run[(int64_t)rank * d->host->n_cores + core];
}

static int32_t ordinal(const decision *d, int32_t rank, int32_t card) {
  return d->host->ordinal[(int64_t)rank * d->host->n_cards + card];
}

/* ------------------------------------------------------------------- request */

/* One word of the request: "gpu", "gpu3", "cpu", "cpu1". */
static tsl_err read_word(const char *text, size_t length, want *out) {
  tsl_err err = TSL_OK;
  out->index = -1;
  if (length == 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "a device without a name; allowed are auto, gpu, cpu, or one word for each rank of a "
             "node (gpu, gpu0, cpu, cpu1), with commas");
  if (length >= 3 && strncmp(text, "gpu", 3) == 0)
    out->kind = WANT_GPU;
  else if (length >= 3 && strncmp(text, "cpu", 3) == 0)
    out->kind = WANT_CPU;
  else
    goto bad;
  if (length > 3) out->index = 0;
  for (size_t i = 3; i < length; i++) {
    if (!isdigit((unsigned char)text[i]) || out->index > 9999) goto bad;
    out->index = 10 * out->index + (text[i] - '0');
  }
  return TSL_OK;
bad:
  TSL_FAIL(TSL_ERR_INPUT,
           "device '%.*s': allowed are auto, gpu, cpu, or one word for each rank of a node "
           "(gpu, gpu0, cpu, cpu1), with commas",
           (int)length, text);
done:
  return err;
}

static tsl_err read_list(decision *d, const char *text) {
  tsl_err err = TSL_OK;
  int32_t n = 0;
  for (const char *word = text;; n++) {
    want parsed;
    const size_t bytes = strcspn(word, ",");
    size_t skip = strspn(word, " "), length = 0;
    if (skip > bytes) skip = bytes;
    length = bytes - skip;
    while (length > 0 && word[skip + length - 1] == ' ') length--;
    TSL_TRY(read_word(word + skip, length, &parsed));
    if (n < d->host->n_ranks) d->wants[n] = parsed;
    if (word[bytes] == '\0') break;
    word += bytes + 1;
  }
  if (n + 1 != d->host->n_ranks)
    TSL_FAIL(TSL_ERR_INPUT, "device list '%s' has %d words, but this node has %d ranks", text,
             n + 1, d->host->n_ranks);
done:
  return err;
}

static tsl_err read_request(decision *d) {
  const char *text = d->ask->devices;
  const bool any = strcmp(text, "auto") == 0;
  const bool cpu = strcmp(text, "cpu") == 0;
  if (!any && !cpu && strcmp(text, "gpu") != 0) return read_list(d, text);
  for (int32_t r = 0; r < d->host->n_ranks; r++)
    d->wants[r] = (want){any ? WANT_ANY : cpu ? WANT_CPU : WANT_GPU, -1};
  return TSL_OK;
}

/* --------------------------------------------------------------------- cards */

static bool is_near(const decision *d, int32_t rank, int32_t card) {
  for (int32_t c = 0; c < d->host->n_cores; c++)
    if (may_run(d, rank, c) && d->host->cores[c].numa == d->host->cards[card].numa) return true;
  return false;
}

static int32_t count_visible(const decision *d, int32_t rank) {
  int32_t n = 0;
  for (int32_t c = 0; c < d->host->n_cards; c++) n += ordinal(d, rank, c) >= 0;
  return n;
}

static tsl_err refuse_card(const decision *d, int32_t rank) {
  const int32_t n = count_visible(d, rank), index = d->wants[rank].index;
  if (n == 0)
    return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                    "a GPU is asked for, but local rank %d sees none: %s", rank,
                    d->host->no_card != NULL ? d->host->no_card : "no card is visible to it");
  if (index >= 0)
    return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                    "gpu%d is asked for, but local rank %d sees gpu0 to gpu%d only", index, rank,
                    n - 1);
  return tsl_fail(
      TSL_ERR_INPUT, __FILE__, __LINE__,
      "a GPU is asked for, but local rank %d finds each of its %d cards taken by another "
      "rank: start fewer ranks per node, use device: auto, or allow sharing with "
      "allow_shared_gpu: true",
      rank, n);
}

static tsl_err fix_card(decision *d, int32_t rank) {
  tsl_err err = TSL_OK;
  int32_t card = 0;
  while (card < d->host->n_cards && ordinal(d, rank, card) != d->wants[rank].index) card++;
  if (card == d->host->n_cards) return refuse_card(d, rank);
  if (d->card_owner[card] >= 0 && !d->ask->allow_shared_gpu)
    TSL_FAIL(TSL_ERR_INPUT,
             "local ranks %d and %d are both put on card %s: give each its own, or allow it with "
             "allow_shared_gpu: true",
             d->card_owner[card], rank, d->host->cards[card].id);
  if (d->card_owner[card] < 0) d->card_owner[card] = rank;
  d->card_fixed[card] = true;
  d->choices[rank].card = card;
done:
  return err;
}

static void give_card(decision *d, int32_t rank, int32_t card) {
  d->card_owner[card] = rank;
  d->choices[rank].card = card;
}

/* A free card, near before far; else let an owner move on (augmenting path), since a launcher may
   show different cards to different ranks. */
static bool find_card(decision *d, int32_t rank) {
  for (int far = 0; far < 2; far++)
    for (int32_t c = 0; c < d->host->n_cards; c++)
      if (ordinal(d, rank, c) >= 0 && d->card_owner[c] < 0 && (far || is_near(d, rank, c)))
        return give_card(d, rank, c), true;
  for (int32_t c = 0; c < d->host->n_cards; c++) {
    if (ordinal(d, rank, c) < 0 || d->card_fixed[c] || d->seen[c]) continue;
    d->seen[c] = true;
    if (find_card(d, d->card_owner[c])) return give_card(d, rank, c), true;
  }
  return false;
}

static int32_t count_sharers(const decision *d, int32_t card) {
  int32_t n = 0;
  for (int32_t r = 0; r < d->host->n_ranks; r++) n += d->choices[r].card == card;
  return n;
}

static tsl_err share_card(decision *d, int32_t rank) {
  int32_t best = -1;
  for (int32_t c = 0; c < d->host->n_cards; c++)
    if (ordinal(d, rank, c) >= 0 && (best < 0 || count_sharers(d, c) < count_sharers(d, best)))
      best = c;
  if (best < 0 || !d->ask->allow_shared_gpu) return refuse_card(d, rank);
  d->choices[rank].card = best;
  return TSL_OK;
}

static tsl_err assign_cards(decision *d) {
  tsl_err err = TSL_OK;
  for (int32_t r = 0; r < d->host->n_ranks; r++)
    if (d->wants[r].kind == WANT_GPU && d->wants[r].index >= 0) TSL_TRY(fix_card(d, r));
  for (int need = 1; need >= 0; need--) /* who must have one comes first */
    for (int32_t r = 0; r < d->host->n_ranks; r++) {
      if (d->wants[r].kind != (need ? WANT_GPU : WANT_ANY) || d->choices[r].card >= 0) continue;
      memset(d->seen, 0, sizeof(bool) * (size_t)d->host->n_cards);
      if (!find_card(d, r) && need) TSL_TRY(share_card(d, r));
    }
  for (int32_t r = 0; r < d->host->n_ranks; r++) {
    tsl_bind_choice *choice = &d->choices[r];
    choice->kind = choice->card >= 0 ? TSL_GPU : TSL_CPU;
    choice->sharers = choice->card >= 0 ? count_sharers(d, choice->card) : 0;
    if (choice->sharers > 1) choice->notes |= TSL_NOTE_SHARED_CARD;
  }
done:
  return err;
}

/* --------------------------------------------------------------------- cores */

static void give_core(decision *d, int32_t rank, int32_t core) {
  d->cores[(int64_t)rank * d->host->n_cores + core] = true;
  d->core_taken[core] = true;
  d->choices[rank].n_cores++;
}

enum { ROOMY = 8 }; /* cores for each GPU rank that make a second one for it affordable */

/* A core for a GPU rank: near its card, else any that is free. */
static void feed_card(decision *d, int32_t rank) {
  const int32_t numa = d->host->cards[d->choices[rank].card].numa;
  for (int far = 0; far < 2; far++)
    for (int32_t c = 0; c < d->host->n_cores; c++) {
      if (!may_run(d, rank, c) || d->core_taken[c]) continue;
      if (!far && d->host->cores[c].numa != numa) continue;
      give_core(d, rank, c);
      d->choices[rank].package = d->host->cores[c].package;
      return;
    }
}

static int64_t free_cores(const decision *d, int32_t rank, int32_t package) {
  int64_t n = 0;
  for (int32_t c = 0; c < d->host->n_cores; c++)
    n += d->host->cores[c].package == package && may_run(d, rank, c) && !d->core_taken[c];
  return n;
}

static int64_t count_ranks(const decision *d, int32_t package, int32_t kind, int32_t before) {
  int64_t n = 0;
  for (int32_t r = 0; r < before; r++)
    n += d->choices[r].kind == kind && d->choices[r].package == package;
  return n;
}

/* The socket with most free cores for each of its CPU ranks, feeding fewer cards when equal. */
static int32_t best_package(const decision *d, int32_t rank) {
  int32_t best = -1;
  int64_t best_cores = 0, best_ranks = 1, best_feeds = 0;
  for (int32_t p = 0; p < d->n_packages; p++) {
    const int64_t cores = free_cores(d, rank, p);
    const int64_t ranks = count_ranks(d, p, TSL_CPU, rank) + 1;
    const int64_t feeds = count_ranks(d, p, TSL_GPU, d->host->n_ranks);
    const int64_t gain = cores * best_ranks - best_cores * ranks;
    if (best >= 0 && (gain < 0 || (gain == 0 && feeds >= best_feeds))) continue;
    best = p, best_cores = cores, best_ranks = ranks, best_feeds = feeds;
  }
  return best;
}

static tsl_err choose_package(decision *d, int32_t rank) {
  tsl_err err = TSL_OK;
  const int32_t asked = d->wants[rank].index;
  int32_t c = 0;
  if (d->wants[rank].kind != WANT_CPU || asked < 0) {
    d->choices[rank].package = best_package(d, rank);
    return TSL_OK;
  }
  if (asked >= d->n_packages)
    TSL_FAIL(TSL_ERR_INPUT, "cpu%d is asked for, but this host has sockets cpu0 to cpu%d only",
             asked, d->n_packages - 1);
  while (c < d->host->n_cores && !(d->host->cores[c].package == asked && may_run(d, rank, c))) c++;
  if (c == d->host->n_cores)
    TSL_FAIL(TSL_ERR_INPUT,
             "cpu%d is asked for, but the launcher leaves local rank %d no core of that socket",
             asked, rank);
  d->choices[rank].package = asked;
done:
  return err;
}

/* The rank to get a core: the first one below its even share, else the one with fewest. */
static int32_t next_owner(const decision *d, int32_t package, int32_t kind, int32_t core,
                          int64_t n) {
  const int64_t k = count_ranks(d, package, kind, d->host->n_ranks);
  int32_t fewest = -1;
  int64_t j = -1;
  for (int32_t r = 0; r < d->host->n_ranks; r++) {
    const tsl_bind_choice *choice = &d->choices[r];
    if (choice->kind != kind || choice->package != package) continue;
    j++;
    if (!may_run(d, r, core)) continue;
    if (kind == TSL_CPU && d->ask->threads > 0 && choice->n_cores >= d->ask->threads) continue;
    if (choice->n_cores < n * (j + 1) / k - n * j / k) return r;
    if (fewest < 0 || choice->n_cores < d->choices[fewest].n_cores) fewest = r;
  }
  return fewest;
}

static bool wanted(const decision *d, int32_t package, int32_t kind, int32_t core) {
  for (int32_t r = 0; r < d->host->n_ranks; r++)
    if (d->choices[r].kind == kind && d->choices[r].package == package && may_run(d, r, core))
      return true;
  return false;
}

/* Divide the free cores of a socket among its ranks of one kind; GPU ranks have theirs already. */
static void split_package(decision *d, int32_t package, int32_t kind) {
  int64_t n = 0;
  for (int32_t c = 0; c < d->host->n_cores; c++)
    n += d->host->cores[c].package == package && (kind == TSL_GPU || !d->core_taken[c]) &&
         wanted(d, package, kind, c);
  for (int32_t c = 0; c < d->host->n_cores; c++) {
    if (d->host->cores[c].package != package || d->core_taken[c]) continue;
    const int32_t owner = next_owner(d, package, kind, c, n);
    if (owner >= 0) give_core(d, owner, c);
  }
}

static tsl_err assign_cores(decision *d) {
  tsl_err err = TSL_OK;
  const int32_t n = d->host->n_ranks;
  int32_t feeders = 0;
  for (int32_t r = 0; r < n; r++) feeders += d->choices[r].kind == TSL_GPU;
  /* one core drives the card; a second one sends and writes its results meanwhile */
  for (int each = 0; each < (d->host->n_cores >= ROOMY * feeders ? 2 : 1); each++)
    for (int32_t r = 0; r < n; r++)
      if (d->choices[r].kind == TSL_GPU) feed_card(d, r);
  for (int32_t r = 0; r < n; r++)
    if (d->choices[r].kind == TSL_CPU) TSL_TRY(choose_package(d, r));
  for (int32_t p = 0; p < d->n_packages; p++)
    split_package(d, p, count_ranks(d, p, TSL_CPU, n) > 0 ? TSL_CPU : TSL_GPU);
done:
  return err;
}

/* --------------------------------------------------------------------- notes */

static int32_t count_true(const bool *row, int32_t n) {
  int32_t count = 0;
  for (int32_t i = 0; i < n; i++) count += row[i];
  return count;
}

static void set_threads(decision *d, int32_t rank) {
  tsl_bind_choice *choice = &d->choices[rank];
  const int32_t asked = d->ask->threads;
  const int32_t allowed =
      count_true(d->host->may_run + (int64_t)rank * d->host->n_cores, d->host->n_cores);
  choice->threads = choice->kind == TSL_GPU ? 1 : asked > 0 ? asked : choice->n_cores;
  if (choice->threads < 1) choice->threads = 1;
  if (choice->n_cores == 0)
    choice->notes |= TSL_NOTE_CROWDED;
  else if (choice->kind == TSL_CPU && asked > allowed)
    choice->notes |= TSL_NOTE_NARROW;
  else if (choice->kind == TSL_CPU && asked > choice->n_cores)
    choice->notes |= TSL_NOTE_THREADS;
}

/* Cards and cores that nobody uses; noted on the first rank of the node that could change it. */
static void note_idle(decision *d) {
  const tsl_bind_host *host = d->host;
  const int32_t in_job = count_true(host->in_job, host->n_cores);
  int32_t used = 0, allowed = 0;
  bool idle_cards = false;
  for (int32_t c = 0; c < host->n_cards; c++) idle_cards |= d->card_owner[c] < 0;
  if (idle_cards && strcmp(d->ask->devices, "auto") == 0)
    d->choices[0].notes |= TSL_NOTE_IDLE_CARDS;
  for (int32_t r = 0; r < host->n_ranks; r++) used += d->choices[r].n_cores;
  if (d->choices[0].notes != 0 || d->ask->threads > 0 || 2 * used > in_job) return;
  for (int32_t r = 0; r < host->n_ranks; r++) {
    allowed = count_true(host->may_run + (int64_t)r * host->n_cores, host->n_cores);
    if (d->choices[r].kind != TSL_CPU) continue;
    d->choices[r].notes |= allowed < in_job ? TSL_NOTE_NARROW : TSL_NOTE_IDLE_CORES;
    return;
  }
}

/* ---------------------------------------------------------------------- entry */

static tsl_err bind_prepare(decision *d) {
  tsl_err err = TSL_OK;
  const tsl_bind_host *host = d->host;
  TSL_TRY(tsl_alloc(host->n_ranks, sizeof *d->wants, "device requests", (void **)&d->wants));
  TSL_TRY(tsl_alloc(host->n_cards, sizeof *d->card_owner, "cards", (void **)&d->card_owner));
  TSL_TRY(tsl_alloc(host->n_cards, sizeof *d->card_fixed, "cards", (void **)&d->card_fixed));
  TSL_TRY(tsl_alloc(host->n_cards, sizeof *d->seen, "cards", (void **)&d->seen));
  TSL_TRY(tsl_alloc(host->n_cores, sizeof *d->core_taken, "cores", (void **)&d->core_taken));
  memset(d->cores, 0, sizeof *d->cores * (size_t)host->n_ranks * (size_t)host->n_cores);
  for (int32_t c = 0; c < host->n_cards; c++) d->card_owner[c] = -1;
  for (int32_t c = 0; c < host->n_cores; c++)
    if (host->cores[c].package >= d->n_packages) d->n_packages = host->cores[c].package + 1;
  for (int32_t r = 0; r < host->n_ranks; r++) d->choices[r] = (tsl_bind_choice){.card = -1};
done:
  return err;
}

tsl_err tsl_bind_decide(const tsl_bind_ask *ask, const tsl_bind_host *host,
                        tsl_bind_choice *choices, bool *cores) {
  tsl_err err = TSL_OK;
  decision d = {.ask = ask, .host = host, .choices = choices, .cores = cores};
  TSL_TRY(bind_prepare(&d));
  TSL_TRY(read_request(&d));
  TSL_TRY(assign_cards(&d));
  TSL_TRY(assign_cores(&d));
  for (int32_t r = 0; r < host->n_ranks; r++) set_threads(&d, r);
  note_idle(&d);
done:
  TSL_FREE_ALL(d.core_taken, d.seen, d.card_fixed, d.card_owner, d.wants);
  return err;
}
