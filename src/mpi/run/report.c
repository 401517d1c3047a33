/* Tables for standard output: head, plan, balance of the ranks, results and verdict. */
#include "report.h"

#include "checkpoint_manager.h"
#include "device_probe.h"
#include "plan.h"
#include "text.h"
#include "version.h"

#include <math.h>
#include <string.h>

static const double HINT_SECONDS = 0.1; /* shorter runs are not worth a hint */
static const double UNEVEN = 0.05;      /* nor is less waiting or imbalance */

void tsl_report_head(const tsl_session *s, FILE *file) {
  const char *title = tsl_deck_title(s->deck);
  fprintf(file, "tesela %s (%s)  %s: %s\n", TSL_VERSION, TSL_GIT_HASH, s->family->name,
          s->family->doc);
  if (title != NULL && title[0] != '\0') tsl_text_print(file, title), fputc('\n', file);
  fputc('\n', file);
}

static int64_t slab_bytes(const tsl_session *s, const tsl_unit *unit) {
  int64_t bytes = 0;
  for (int f = 0; f < s->problem.n_fields; f++) bytes += tsl_slab_bytes(&s->problem, unit, f);
  return bytes;
}

static void plan_line(const tsl_session *s, int rank, FILE *file) {
  const tsl_plan *plan = &s->plan;
  int64_t units = 0, bytes = 0;
  double count = 0;
  char text[24];
  for (int64_t u = 0; u < plan->n_units; u++) {
    if (plan->owner[u] != rank) continue;
    units++;
    bytes += slab_bytes(s, &s->units.list[u]);
    count += s->units.list[u].count;
  }
  fprintf(file, "  %5d  %-34.34s %8lld  %10.3e  %12.4g  %12s\n", rank,
          s->placements[rank].device.name, (long long)units, count, plan->seconds[rank],
          tsl_bytes_text((double)bytes, text));
}

/* Who was left out, and why. */
static void left_out_lines(const tsl_session *s, FILE *file) {
  for (int r = 0; r < s->size; r++) {
    if (!tsl_cost_takes_part(&s->cost, r))
      fprintf(file, "rank %d left out: would gain %.3g ms of %.4g ms, costs %.3g ms\n", r,
              1e3 * s->use[r].gain, 1e3 * s->use[r].without, 1e3 * s->use[r].price);
  }
}

/* How even the ranks' loads are in the phases of each set of kinds. */
static void set_lines(const tsl_session *s, FILE *file) {
  const tsl_workload work = tsl_session_work(s, tsl_cost_seconds);
  double *load = NULL;
  if (s->family->active == NULL && s->first <= 0) return;
  if (tsl_alloc(s->size, sizeof *load, "loads", (void **)&load) != TSL_OK) return;
  for (int k = 0; k < s->sets.n; k++) {
    const double most = tsl_plan_loads(&s->plan, &work, s->sets.mask[k], load);
    fputs("phases of units of kind", file);
    for (int kind = 0; kind < s->family->n_kinds; kind++)
      if (tsl_kind_in(s->sets.mask[k], kind)) fprintf(file, " %d", kind);
    fprintf(file, ": predicted %.4g s each, balance %.2f %%\n", most,
            100 * tsl_plan_efficiency(load, &s->cost));
  }
  tsl_free(load);
}

void tsl_report_plan(const tsl_session *s, double shortcut, FILE *file) {
  const tsl_plan *plan = &s->plan;
  char text[24], facts[TSL_FACTS];
  tsl_session_facts(s, facts);
  fputs(facts, file);
  fprintf(file, "%lld units; plan %s; calibration %s\n", (long long)plan->n_units,
          tsl_plan_words[s->run.plan],
          s->measured > 0        ? "measured now"
          : s->cost.guessed == 0 ? "from file"
                                 : "guessed from what `tesela probe` measured");
  if (s->cost.guessed > 0)
    fprintf(file, "of %d of %d ranks; such guesses were up to %d times off\n", s->cost.guessed,
            s->size, TSL_PROBE_UNSURE);
  fprintf(file, "  %5s  %-34s %8s  %10s  %12s  %12s\n", "rank", "device", "units", "items",
          "predicted s", "results");
  for (int r = 0; r < s->size; r++) plan_line(s, r, file);
  left_out_lines(s, file);
  if (s->first > 0) fprintf(file, "first phase: predicted %.4g s; later ones:\n", s->first);
  set_lines(s, file);
  tsl_checkpoints_print(s, file);
  fprintf(file, "predicted %.4g s of computing; output %s", plan->total_seconds,
          tsl_bytes_text((double)tsl_session_output_bytes(s), text));
  if (plan->traceback_seconds > 0)
    fprintf(file, "; then %.4g s of the way back", plan->traceback_seconds);
  if (shortcut > 0) fprintf(file, "; by the shortcut about %.3g s", shortcut);
  fputs("\n\n", file);
}

static double all_items(const tsl_out_unit *rows, int64_t n_rows) {
  double items = 0;
  for (int64_t k = 0; k < n_rows; k++) items += rows[k].unit.count;
  return items;
}

static void add_row(tsl_share_line *line, const tsl_out_unit *row, double items) {
  line->units++;
  line->dynamic += row->dynamic;
  line->predicted += row->predicted;
  if (!row->dynamic && items > 0) line->static_share += row->unit.count / items;
}

/* All items over the summed speeds: every rank would end at the same moment. */
static double ideal_time(const tsl_share_line *lines, int n, const tsl_out_unit *rows,
                         int64_t n_rows) {
  double work = 0, rate = 0;
  for (int r = 0; r < n; r++) {
    double own = 0;
    for (int64_t k = 0; k < n_rows; k++)
      if (rows[k].owner == r) own += rows[k].unit.count;
    work += own;
    if (lines[r].busy > 0) rate += own / lines[r].busy;
  }
  return rate > 0 ? work / rate : 0;
}

void tsl_report_balance(const tsl_session *s, const tsl_out_unit *rows, int64_t n_rows,
                        tsl_share_line *lines, tsl_balance *b) {
  const double items = all_items(rows, n_rows);
  const int n_parts = tsl_session_parts(s);
  double sum_finish = 0;
  *b = (tsl_balance){.predicted = s->plan.total_seconds};
  for (int64_t k = 0; k < n_rows; k++)
    if (rows[k].owner >= 0) add_row(&lines[rows[k].owner], &rows[k], items);
  for (int r = 0; r < s->size; r++) b->wall = fmax(b->wall, lines[r].finish);
  for (int r = 0; r < s->size; r++) {
    lines[r].rank = r;
    if (!tsl_cost_takes_part(&s->cost, r)) continue; /* not asked to be busy */
    lines[r].idle = fmax(0, b->wall - lines[r].busy);
    b->static_share += lines[r].static_share;
    b->dynamic += lines[r].dynamic;
    b->idle += lines[r].idle;
    sum_finish += lines[r].finish;
  }
  b->ideal = ideal_time(lines, s->size, rows, n_rows);
  if (b->wall <= 0) return;
  b->imbalance = b->wall * n_parts / sum_finish - 1;
  b->waiting = b->idle / (b->wall * n_parts);
}

static bool streams(const tsl_problem *problem) {
  for (int f = 0; f < problem->n_fields; f++)
    if (problem->fields[f].stream) return true;
  return false;
}

static void hint(const tsl_session *s, const tsl_balance *b, FILE *file) {
  if (b->waiting <= UNEVEN || b->wall < HINT_SECONDS) return;
  if (s->units.n < 16 * s->size)
    fprintf(file,
            "hint: only %lld units for %d ranks; a larger problem or --set run.units=%d helps\n",
            (long long)s->units.n, s->size, 64 * s->size);
  else if (s->family->shape == TSL_WAVE)
    fprintf(file, "hint: tiles wait for one another; a larger problem or fewer ranks helps\n");
  else if (s->size > 1 && b->imbalance > UNEVEN)
    fprintf(file, "hint: the prediction missed; try --set run.calibrate=always%s\n",
            s->run.dynamic < 1 ? " or run.dynamic=1" : "");
  else if (streams(&s->problem))
    fprintf(file, "hint: the devices wait for results to be written; faster storage helps, or an "
                  "output that keeps less\n");
}

void tsl_report_run(const tsl_session *s, const tsl_share_line *lines, const tsl_balance *b,
                    const tsl_slowest *slowest, FILE *file) {
  fprintf(file, "  %5s  %-34s %8s %8s %8s  %11s  %10s  %8s  %6s\n", "rank", "device", "units",
          "static %", "dynamic", "predicted s", "measured s", "idle s", "idle %");
  for (int r = 0; r < s->size; r++)
    fprintf(file, "  %5d  %-34.34s %8lld %8.1f %8lld  %11.4g  %10.4g  %8.3g  %6.1f\n", r,
            s->placements[r].device.name, (long long)lines[r].units, 100 * lines[r].static_share,
            (long long)lines[r].dynamic, lines[r].predicted, lines[r].busy, lines[r].idle,
            b->wall > 0 ? 100 * lines[r].idle / b->wall : 0);
  fprintf(file, "static share %.1f %% of the items, %lld units taken from other ranks\n",
          100 * b->static_share, (long long)b->dynamic);
  fprintf(file, "computed in %.4g s (predicted %.4g s); ideal %.4g s, measured %.1f %% above it\n",
          b->wall, b->predicted, b->ideal,
          b->ideal > 0 ? 100 * fmax(0, b->wall / b->ideal - 1) : 0);
  fprintf(file, "imbalance %.1f %%, waiting %.1f %%\n", 100 * b->imbalance, 100 * b->waiting);
  if (slowest->n_phases > 1)
    fprintf(file, "these are sums over %lld phases; the slowest was phase %lld with %.4g s\n",
            (long long)slowest->n_phases, (long long)slowest->phase, slowest->seconds);
  left_out_lines(s, file);
  hint(s, b, file);
  fputc('\n', file);
}

void tsl_report_summary(const tsl_summary *summary, FILE *file) {
  for (int k = 0; k < summary->n_results; k++) {
    const tsl_result *r = &summary->results[k];
    const bool pure = strcmp(r->unit, "1") == 0;
    fprintf(file, "  %-32s %.10g%s%s\n", r->name, r->value, pure ? "" : " ", pure ? "" : r->unit);
  }
  if (summary->text[0] != '\0') fprintf(file, "%s\n", summary->text);
  if (summary->valid)
    fprintf(file, "VALID\n");
  else
    fprintf(file, "INVALID: %s\n", summary->reason);
}
