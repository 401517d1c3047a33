/* The table of `tesela plan --cluster`, what it stands on, and the fits. */
#include "device_probe.h"
#include "scaling_fit.h"
#include "whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void print_device(const tsl_whatif *w, int d, FILE *file) {
  const tsl_cluster_device *device = &tsl_cluster_devices(&w->cluster)[d];
  const tsl_device_rate *rate = &w->rates[d];
  fprintf(file, "  %" PRId64 " x %s", device->count, device->name);
  if (device->like != NULL)
    fprintf(file, " like %s, speed %g, compute %g, memory %g, launch %g", device->like,
            device->speed, device->figures.compute, device->figures.memory, device->figures.launch);
  if (rate->guess)
    fprintf(file, ": guessed from its probe%s%s%s%s, up to %d times off",
            rate->by.host[0] != '\0' ? " on " : "", rate->by.host,
            rate->by.host[0] != '\0' ? " with " : "",
            rate->by.host[0] != '\0' ? rate->by.threads : "", TSL_PROBE_UNSURE);
  else if (rate->by.host[0] == '\0')
    fprintf(file, ": card, calibrated as one of %s", rate->by.ranks);
  else
    fprintf(file, ": calibrated on %s with %s as one of %s", rate->by.host, rate->by.threads,
            rate->by.ranks);
  fprintf(file, "%s\n", tsl_calibration_older(&rate->by) ? ", by another build of tesela" : "");
}

static void print_row(const tsl_whatif *w, const tsl_whatif_row *row, FILE *file) {
  char network[24], host[24], device[24];
  const double speed_up = row->seconds > 0 ? w->one.seconds / row->seconds : 1;
  fprintf(file,
          "  %7" PRId64 " %7" PRId64 " %8" PRId64
          "  %10.4g %10.3g %10.3g %10.3g %10.4g  %8.2f %7.1f "
          "%7.1f  %11s %11s %11s  %8.3f\n",
          row->nodes, row->ranks, row->units, row->compute, row->share, row->between, row->combine,
          row->seconds, speed_up, 100 * speed_up / (double)row->nodes, 100 * row->idle,
          tsl_bytes_text(row->network_bytes, network), tsl_bytes_text(row->host_bytes, host),
          row->device_bytes > 0 ? tsl_bytes_text(row->device_bytes, device) : "-", row->planning);
}

static void print_fits(const tsl_whatif *w, FILE *file) {
  int64_t nodes[64];
  double seconds[64];
  for (int k = 0; k < w->n; k++) nodes[k] = w->rows[k].nodes, seconds[k] = w->rows[k].seconds;
  const double amdahl = tsl_fit_amdahl(nodes, seconds, w->n, w->one.seconds);
  const double gustafson = tsl_fit_gustafson(nodes, seconds, w->n, w->one.seconds);
  if (!isfinite(amdahl) || !isfinite(gustafson)) {
    fputs("no fits of Amdahl's and Gustafson's laws: they need more than one node, and work\n",
          file);
    return;
  }
  fprintf(file, "Amdahl: serial fraction %.4g of the time on one node\n", amdahl);
  fprintf(file, "Gustafson: serial fraction %.4g of the time on N nodes\n", gustafson);
}

/* Coefficients are fitted to units of one size, and other sizes can be off. */
static void print_sizes(const tsl_session *s, const tsl_whatif *w, FILE *file) {
  const tsl_whatif_row *off = NULL;
  for (int k = 0; k < w->n; k++)
    if (abs(w->rows[k].finer) > 1 && (off == NULL || abs(w->rows[k].finer) > abs(off->finer)))
      off = &w->rows[k];
  if (off == NULL) return;
  fprintf(file,
          "units on %" PRId64
          " nodes are about %.0f times %s than those calibrated, and predictions "
          "may be off;\n  better: `tesela calibrate %s -s run.units=%" PRId64
          "`, and the same run.units here\n",
          off->nodes, ldexp(1, abs(off->finer)), off->finer > 0 ? "smaller" : "larger",
          s->options->deck, off->units);
}

/* Speeds that were measured beside another number of ranks than a node has. */
static void print_beside(const tsl_session *s, const tsl_whatif *w, FILE *file) {
  const int ranks = tsl_cluster_ranks(&w->cluster);
  for (int d = 0; d < (int)w->cluster.devices.n; d++) {
    const tsl_calibration_line *by = &w->rates[d].by;
    if (atoi(by->ranks) == ranks) continue;
    fprintf(
        file,
        "not counted: what %d ranks of a node take from each other (memory, caches, clock); the "
        "nearest calibration of %s is of %s\n  better: `mpirun -n %d tesela run %s` on such a "
        "node, with the same calibration file\n",
        ranks, by->device, by->ranks, ranks, s->options->deck);
  }
}

/* What the times leave out. */
static void print_limits(const tsl_session *s, const tsl_whatif *w, FILE *file) {
  bool lists = false;
  for (int f = 0; f < s->problem.n_fields; f++)
    lists = lists ||
            ((s->problem.fields[f].role & TSL_OUT) && s->problem.fields[f].combine == TSL_LIST);
  for (int k = 0; k < w->n; k++)
    if (w->rows[k].parts < w->rows[k].ranks)
      fprintf(file, "on %" PRId64 " nodes %" PRId64 " ranks are left out, they would not pay\n",
              w->rows[k].nodes, w->rows[k].ranks - w->rows[k].parts);
  if (lists) fputs("not counted: lists of results, whose length shows in the run\n", file);
  if (w->one.between > 0)
    fprintf(file,
            "times are of one phase of each set of kinds; between: rank 0's work and devices that "
            "wait, as in a run of %s with %s\n",
            w->rates[0].by.ranks, w->rates[0].by.threads);
  else if (s->family->active != NULL)
    fputs("times are of one phase of each set of kinds; not counted: rank 0's work between phases "
          "and devices that wait, which a finished run adds to the calibration file\n",
          file);
  print_beside(s, w, file);
}

void tsl_whatif_print(const tsl_session *s, const tsl_whatif *w, FILE *file) {
  fprintf(file, "nodes that are not here, network %g s and %g bytes/s; each node:\n",
          w->cluster.network.latency, w->cluster.network.bandwidth);
  for (int d = 0; d < (int)w->cluster.devices.n; d++) print_device(w, d, file);
  fprintf(file, "\n  %7s %7s %8s  %10s %10s %10s %10s %10s  %8s %7s %7s  %11s %11s %11s  %8s\n",
          "nodes", "ranks", "units", "compute s", "share s", "between s", "combine s", "time s",
          "speed-up", "effic %", "idle %", "network", "rank 0 host", "device", "plan s");
  for (int k = 0; k < w->n; k++) print_row(w, &w->rows[k], file);
  fprintf(file, "speed-up over one node, %.4g s\n", w->one.seconds);
  print_fits(w, file);
  print_sizes(s, w, file);
  print_limits(s, w, file);
}
