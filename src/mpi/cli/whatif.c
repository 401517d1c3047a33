/* Devices of the cluster file get rates of the calibration file, ranks are imagined, and a copy of
 * the session that is alone on MPI_COMM_SELF plans for them. */
#include "whatif.h"

#include "calibrate.h"
#include "collective_error.h"
#include "device_probe.h"
#include "machine.h"
#include "measure.h"
#include "network.h"
#include "slab_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that stand for "not limited": far from overflow when a family multiplies them. */
static const int64_t UNLIMITED = INT64_C(1) << 56;

tsl_err tsl_whatif_open(tsl_session *s, tsl_whatif *w) {
  tsl_err err = TSL_OK;
  *w = (tsl_whatif){.file = NULL};
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0
                                  ? tsl_cluster_read(s->options->cluster, &w->file, &w->cluster)
                                  : TSL_OK);
done:
  return err;
}

void tsl_whatif_clear(tsl_whatif *w) {
  TSL_FREE_ALL(w->rates, w->rows);
  tsl_deck_destroy(&w->file);
  *w = (tsl_whatif){.file = NULL};
}

/* ---- calibrations */

static const char *calibrated_name(const tsl_cluster_device *device) {
  return device->like != NULL ? device->like : device->name;
}

static bool knows_kinds(const tsl_device_rate *rate, const tsl_session *s) {
  return rate->found == (1u << s->family->n_kinds) - 1;
}

/* Of rates of the name the one measured beside the number of ranks nearest to a node's, of these
 * one by this build, of these the last. */
static const tsl_device_rate *best_rate(const tsl_session *s, const tsl_whatif *w,
                                        const tsl_cluster_device *device,
                                        const tsl_device_rate *known, int n) {
  const tsl_device_rate *best = NULL;
  const long long ranks = tsl_cluster_ranks(&w->cluster);
  long long least = 0;
  for (int k = 0; k < n; k++) {
    const long long off =
        2 * llabs(atoll(known[k].by.ranks) - ranks) + tsl_calibration_older(&known[k].by);
    if (strcmp(known[k].by.device, calibrated_name(device)) != 0 || !knows_kinds(&known[k], s))
      continue;
    if (device->threads > 0 && atoll(known[k].by.threads) != device->threads) continue;
    if (best == NULL || off <= least) best = &known[k], least = off;
  }
  return best;
}

enum { NAMES = 1024 };

/* "; calibrated for this problem are 'A' (2 threads), 'B'; did you mean 'A'?" */
static void tell_names(const tsl_session *s, const char *name, const tsl_device_rate *known, int n,
                       char text[NAMES]) {
  const char *words[TSL_DEVICE_RATES + 1];
  int n_words = 0;
  size_t used = 0;
  for (int k = 0; k < n; k++) {
    int at = 0;
    while (at < n_words && strcmp(words[at], known[k].by.device) != 0) at++;
    if (at == n_words && knows_kinds(&known[k], s)) words[n_words++] = known[k].by.device;
  }
  words[n_words] = NULL;
  text[0] = '\0';
  for (int k = 0; k < n_words && used + 100 < NAMES; k++)
    used += (size_t)snprintf(text + used, NAMES - used, "%s'%s'", k == 0 ? "; there are " : ", ",
                             words[k]);
  const char *near = n_words > 0 ? tsl_nearest_word(name, words) : NULL;
  if (near != NULL && strcmp(near, name) != 0)
    (void)snprintf(text + used, NAMES - used, "; did you mean '%s'?", near);
}

static tsl_err fail_unknown(const tsl_session *s, const tsl_whatif *w, int d,
                            const tsl_device_rate *known, int n, const char *file) {
  tsl_err err = TSL_OK;
  const tsl_cluster_device *device = &tsl_cluster_devices(&w->cluster)[d];
  char path[64], names[NAMES], threads[48] = "";
  (void)snprintf(path, sizeof path, "cluster.devices[%d].%s", d,
                 device->like != NULL ? "like" : "name");
  if (device->threads > 0)
    (void)snprintf(threads, sizeof threads, " with %lld threads", (long long)device->threads);
  tell_names(s, calibrated_name(device), known, n, names);
  TSL_DECK_FAIL(
      w->file, path,
      "no calibration of '%.80s'%s for this problem in %s%s; run `tesela calibrate %s` "
      "where the device is, with the same calibration file (run.calibration), or `tesela probe "
      "--calibration` for a guess, or name one that is known by `like`",
      calibrated_name(device), threads, file, names, s->options->deck);
done:
  return err;
}

/* A device that has not computed such units, by its probe. Cards have no host. */
static tsl_err guess_rate(const tsl_session *s, const tsl_whatif *w, int d, tsl_device_rate *rate) {
  tsl_err err = TSL_OK;
  const tsl_cluster_device *device = &tsl_cluster_devices(&w->cluster)[d];
  *rate = (tsl_device_rate){.guess = false};
  TSL_TRY(tsl_device_probe_find(&s->run, NULL, calibrated_name(device), (int)device->threads,
                                tsl_cluster_ranks(&w->cluster), &rate->by));
  if (rate->by.kind != TSL_PROBE) goto done;
  rate->guess = true;
  tsl_device_probe_speed(&rate->by, &s->problem, s->units.list, s->units.n, &rate->speed);
done:
  return err;
}

static void scale_speed(const tsl_cluster_device *device, tsl_speed *speed) {
  const tsl_cluster_figures *f = &device->figures;
  const double faster[TSL_N_TERMS] = {f->launch, f->compute, f->memory, f->compute, f->compute};
  for (int kind = 0; kind < TSL_MAX_KINDS; kind++)
    for (int k = 0; k < TSL_N_TERMS; k++) speed->c[kind][k] /= device->speed * faster[k];
}

/* Rank 0's processor works between phases: of a socket it is the device itself. */
static void scale_rate(const tsl_cluster_device *device, tsl_device_rate *rate) {
  scale_speed(device, &rate->speed);
  if (rate->by.host[0] != '\0') rate->between /= device->speed * device->figures.compute;
}

static const tsl_placement *here(const tsl_session *s, const tsl_cluster_device *device) {
  for (int r = 0; r < s->size; r++)
    if (strcmp(s->placements[r].device.name, calibrated_name(device)) == 0)
      return &s->placements[r];
  return NULL;
}

/* How long a card's pipeline takes to fill depends on more than its speed. */
static tsl_err check_pipeline(const tsl_session *s, const tsl_whatif *w, int d) {
  tsl_err err = TSL_OK;
  const tsl_cluster_device *device = &tsl_cluster_devices(&w->cluster)[d];
  char path[64];
  (void)snprintf(path, sizeof path, "cluster.devices[%d].name", d);
  if (s->family->shape == TSL_WAVE && w->rates[d].by.host[0] == '\0' && here(s, device) == NULL)
    TSL_DECK_FAIL(w->file, path,
                  "'%.80s' is a card that is not on this host; family '%s' can be planned on cards "
                  "of this host only, as its pipeline depends on the card: start `tesela plan` "
                  "where there is one",
                  calibrated_name(device), s->family->name);
done:
  return err;
}

static tsl_err find_rates(const tsl_session *s, tsl_whatif *w) {
  tsl_err err = TSL_OK;
  const tsl_cluster_device *devices = tsl_cluster_devices(&w->cluster);
  const int n_devices = (int)w->cluster.devices.n;
  char file[1024], signature[96] = "";
  tsl_device_rate *known = NULL;
  if (s->family->signature == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "family '%s' keeps no calibrations to plan with", s->family->name);
  s->family->signature(&s->problem, signature);
  TSL_TRY(tsl_calibration_path(&s->run, file, sizeof file));
  TSL_TRY(tsl_alloc(TSL_DEVICE_RATES, sizeof *known, "rates", (void **)&known));
  TSL_TRY(tsl_alloc(n_devices, sizeof *w->rates, "rates", (void **)&w->rates));
  const int n = tsl_device_rates_read(&s->run, s->family->name, signature, known, TSL_DEVICE_RATES);
  for (int d = 0; d < n_devices; d++) {
    const tsl_device_rate *rate = best_rate(s, w, &devices[d], known, n);
    if (rate != NULL)
      w->rates[d] = *rate;
    else
      TSL_TRY(guess_rate(s, w, d, &w->rates[d]));
    if (rate == NULL && !w->rates[d].guess) TSL_TRY(fail_unknown(s, w, d, known, n, file));
    TSL_TRY(check_pipeline(s, w, d));
    scale_rate(&devices[d], &w->rates[d]);
  }
done:
  tsl_free(known);
  return err;
}

/* ---- imagined ranks */

/* As a rank here on a device of that name; else what the files say. */
static tsl_placement imagine_placement(const tsl_session *s, const tsl_cluster_device *device,
                                       const tsl_device_rate *rate) {
  const int kind = rate->by.host[0] == '\0' ? TSL_GPU : TSL_CPU;
  tsl_placement p = {.threads = kind == TSL_GPU ? 1 : atoi(rate->by.threads)};
  p.device = (tsl_device){.kind = kind,
                          .numa = -1,
                          .threads = kind == TSL_GPU ? 0 : p.threads,
                          .memory_limit = UNLIMITED,
                          .host_limit = UNLIMITED};
  if (here(s, device) != NULL) p.device = here(s, device)->device;
  if (kind == TSL_CPU) p.device.threads = p.threads;
  (void)snprintf(p.device.name, sizeof p.device.name, "%s", device->name);
  if (device->memory > 0) p.device.memory_limit = device->memory;
  if (device->memory > 0 && kind == TSL_CPU) p.device.host_limit = device->memory;
  return p;
}

/* Ranks of a node in the order of its devices. */
static void imagine_node(const tsl_session *s, const tsl_whatif *w, int node, tsl_session *far) {
  const tsl_cluster_device *devices = tsl_cluster_devices(&w->cluster);
  const int ranks = tsl_cluster_ranks(&w->cluster);
  int local = 0;
  for (int d = 0; d < (int)w->cluster.devices.n; d++)
    for (int k = 0; k < devices[d].count; k++, local++) {
      const int rank = node * ranks + local;
      tsl_placement *p = &far->placements[rank];
      *p = imagine_placement(s, &devices[d], &w->rates[d]);
      p->rank = rank, p->node = node, p->local_rank = local, p->local_size = ranks;
      far->cost.speeds[rank] = w->rates[d].speed;
    }
}

/* What a band of strips costs besides its cells was divided among the lanes of a rank, which are
 * others here. Where stages overlap, on cards, it is paid once in all of them. */
static void share_bands(const tsl_whatif *w, tsl_session *far) {
  const tsl_units *units = &far->units;
  const int ranks = tsl_cluster_ranks(&w->cluster);
  if (!tsl_measure_has_strips(&far->problem, units->list, units->n)) return;
  const int64_t of_rank = (units->list[units->n - 1].lane + 1) / far->size;
  const double lanes = of_rank > 0 ? (double)of_rank : 1;
  for (int d = 0, first = 0; d < (int)w->cluster.devices.n; d++) {
    const tsl_device_rate *rate = &w->rates[d];
    const int end = first + (int)tsl_cluster_devices(&w->cluster)[d].count;
    for (; first < end; first++)
      for (int rank = first; rank < far->size && rate->by.lanes > 0; rank += ranks)
        for (int kind = 0; kind < TSL_MAX_KINDS && rate->by.host[0] != '\0'; kind++)
          far->cost.speeds[rank].c[kind][0] *= (double)rate->by.lanes / lanes;
  }
}

/* A session of imagined ranks on MPI_COMM_SELF; deck and problem are the true one's, and after a
 * restart the units, with those that are finished. */
static tsl_err imagine(const tsl_session *s, const tsl_whatif *w, int64_t nodes,
                       const tsl_network *network, tsl_session *far) {
  tsl_err err = TSL_OK;
  *far = (tsl_session){.comm = MPI_COMM_SELF,
                       .size = (int)nodes * network->ranks_per_node,
                       .options = s->options,
                       .deck = s->deck,
                       .family = s->family,
                       .run = s->run,
                       .output = s->output,
                       .problem = s->problem,
                       .limits = s->limits,
                       .limited = s->limited,
                       .finished = s->finished,
                       .checkpoints = s->checkpoints,
                       .settled = s->run.rebalance,
                       .finer = 1,
                       .network = network};
  far->cost.n_ranks = far->size;
  TSL_TRY(tsl_alloc(far->size, sizeof *far->placements, "ranks", (void **)&far->placements));
  TSL_TRY(tsl_alloc(far->size, sizeof *far->cost.speeds, "ranks", (void **)&far->cost.speeds));
  for (int node = 0; node < nodes; node++) imagine_node(s, w, node, far);
  TSL_TRY(tsl_session_units(far));
  share_bands(w, far);
  TSL_TRY(tsl_session_plan_known(far));
done:
  return err;
}

static void forget(tsl_session *far) {
  tsl_plan_clear(&far->plan);
  TSL_FREE_ALL(far->placements, far->cost.speeds, far->cost.left_out, far->use, far->units.list);
}

/* ---- what travels and what is held */

static bool reduced(const tsl_field *field) {
  return (field->role & TSL_OUT) != 0 && field->combine != TSL_GATHER && field->combine != TSL_LIST;
}

/* Problem, units, plan: what rank 0 broadcasts before the first phase. */
static double bytes_shared(const tsl_session *far) {
  double bytes = (double)far->problem.params_bytes + (double)sizeof far->problem.fields;
  for (int f = 0; f < far->problem.n_fields; f++)
    if (far->problem.fields[f].role & TSL_IN)
      bytes += (double)tsl_field_bytes(&far->problem.fields[f]);
  return bytes + (double)far->units.n * (double)(sizeof *far->units.list + sizeof(int32_t)) +
         (double)far->size * (double)(sizeof(double) + sizeof *far->use + sizeof(tsl_speed));
}

static double bytes_reduced(const tsl_session *far) {
  double bytes = 0;
  for (int f = 0; f < far->problem.n_fields; f++)
    if (reduced(&far->problem.fields[f])) bytes += (double)tsl_field_bytes(&far->problem.fields[f]);
  return bytes;
}

/* Slabs of units that other nodes compute. */
static double bytes_gathered(const tsl_session *far) {
  double bytes = 0;
  for (int64_t u = 0; u < far->units.n; u++)
    for (int f = 0; f < far->problem.n_fields; f++)
      if (far->plan.owner[u] >= far->network->ranks_per_node)
        bytes += (double)tsl_slab_bytes(&far->problem, &far->units.list[u], f);
  return bytes;
}

static void tell_memory(const tsl_session *far, tsl_whatif_row *row) {
  double unit = 0;
  for (int f = 0; f < far->problem.n_fields; f++) {
    const tsl_field *field = &far->problem.fields[f];
    if (field->data != NULL) row->host_bytes += (double)tsl_field_bytes(field);
    if ((field->role & TSL_IN) || reduced(field))
      row->device_bytes += (double)tsl_field_bytes(field);
  }
  row->host_bytes += (double)far->units.n * (double)(sizeof *far->units.list + sizeof(int32_t)) +
                     (double)far->size * (double)(sizeof(double) + sizeof(tsl_speed));
  for (int64_t u = 0; u < far->units.n; u++) unit = fmax(unit, far->units.list[u].device_bytes);
  row->device_bytes = unit > 0 ? row->device_bytes + unit : 0;
}

/* Seconds of devices in the ranks' sum. */
static double busy_seconds(const tsl_session *far) {
  double busy = far->plan.traceback_seconds; /* of one rank at a time */
  for (int r = 0; r < far->size; r++) busy += far->plan.seconds[r];
  return busy;
}

/* Besides the plan: rank 0's work, and devices that wait as long as in the run that has shown it,
 * as far as the plan has not foreseen that. Rank 0 is on the first device. */
static double between_seconds(const tsl_session *far, const tsl_whatif *w) {
  const tsl_device_rate *rate = &w->rates[0];
  const double mean = busy_seconds(far) / tsl_session_parts(far);
  return rate->between + fmax(0, mean * rate->waiting - far->plan.total_seconds);
}

static void tell_row(const tsl_session *far, const tsl_whatif *w, int64_t nodes,
                     tsl_whatif_row *row) {
  const tsl_network *network = far->network;
  const double shared = bytes_shared(far), sums = bytes_reduced(far), slabs = bytes_gathered(far);
  const double sets = far->sets.n > 1 ? far->sets.n : 1;
  const double gather = slabs > 0 ? tsl_network_message(network, slabs) : 0; /* meanwhile */
  *row = (tsl_whatif_row){.nodes = nodes, .ranks = far->size, .units = far->units.n};
  row->parts = tsl_session_parts(far);
  row->share = tsl_network_bcast(network, (int)nodes, shared);
  row->compute = far->plan.total_seconds + far->plan.traceback_seconds;
  row->between = between_seconds(far, w);
  row->combine =
      fmax(0, gather - row->compute) + sets * tsl_network_bcast(network, (int)nodes, sums);
  row->seconds = row->share + row->compute + row->between + row->combine;
  const double all = row->seconds * far->size;
  row->idle = all > 0 ? fmax(0, 1 - busy_seconds(far) / all) : 0;
  row->network_bytes =
      (double)(nodes - 1) * (shared + sets * sums) + slabs + far->plan.network_bytes;
  tell_memory(far, row);
}

/* Negative: larger than those calibrated. Of the devices the one that is farthest off. */
static int finer_by(const tsl_session *far, const tsl_whatif *w) {
  const tsl_unit *unit = tsl_middle_unit(far->units.list, far->units.n, 0);
  int most = 0;
  for (int d = 0; unit != NULL && d < (int)w->cluster.devices.n; d++) {
    const int finer = w->rates[d].by.size - ilogb(unit->count + 1);
    if (!w->rates[d].guess && abs(finer) > abs(most)) most = finer;
  }
  return most;
}

/* ---- all numbers of nodes */

static tsl_err plan_row(const tsl_session *s, const tsl_whatif *w, int64_t nodes,
                        tsl_whatif_row *row) {
  tsl_err err = TSL_OK;
  const double start = tsl_now();
  const tsl_network network = {.ranks_per_node = tsl_cluster_ranks(&w->cluster),
                               .latency = w->cluster.network.latency,
                               .bandwidth = w->cluster.network.bandwidth};
  tsl_session far = {.comm = MPI_COMM_NULL};
  TSL_TRY(imagine(s, w, nodes, &network, &far));
  const double planned = tsl_now();
  tell_row(&far, w, nodes, row);
  row->finer = finer_by(&far, w);
  row->planning = planned - start;
done:
  forget(&far);
  return err;
}

/* The timetable of tiles is exact for so many ranks (plan_wave.c), and tiles are as many as ranks
 * times ranks. */
static tsl_err check_wave(const tsl_session *s, const tsl_whatif *w) {
  enum { MOST = 64 };
  tsl_err err = TSL_OK;
  const int ranks = tsl_cluster_ranks(&w->cluster);
  char path[64];
  for (int k = 0; s->family->shape == TSL_WAVE && k < (int)w->cluster.nodes.n; k++) {
    const int64_t nodes = w->cluster.nodes.values[k];
    (void)snprintf(path, sizeof path, "cluster.nodes[%d]", k);
    if (nodes * ranks > MOST)
      TSL_DECK_FAIL(w->file, path,
                    "%lld nodes are %lld ranks; tiles that wait for one another (family '%s') are "
                    "planned for %d at most",
                    (long long)nodes, (long long)nodes * ranks, s->family->name, MOST);
  }
done:
  return err;
}

static tsl_err plan_rows(const tsl_session *s, tsl_whatif *w) {
  tsl_err err = TSL_OK;
  const int n = (int)w->cluster.nodes.n;
  TSL_TRY(check_wave(s, w));
  TSL_TRY(find_rates(s, w));
  TSL_TRY(tsl_alloc(n, sizeof *w->rows, "rows", (void **)&w->rows));
  TSL_TRY(plan_row(s, w, 1, &w->one));
  for (; w->n < n; w->n++) {
    const int64_t nodes = w->cluster.nodes.values[w->n];
    if (nodes == 1)
      w->rows[w->n] = w->one;
    else
      TSL_TRY(plan_row(s, w, nodes, &w->rows[w->n]));
  }
done:
  return err;
}

tsl_err tsl_whatif_plan(tsl_session *s, tsl_whatif *w) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? plan_rows(s, w) : TSL_OK);
done:
  return err;
}
