/* What becomes of a finished unit: a log row with checksum, a trace event, slabs to the delivery,
 * records kept while they fit run.memory. */
#include "complete_unit.h"

#include "checksum.h"
#include "slab_pool.h"

#include <stdlib.h>
#include <string.h>

bool tsl_complete_lists(const tsl_problem *problem) {
  for (int f = 0; f < problem->n_fields; f++)
    if ((problem->fields[f].role & TSL_OUT) && problem->fields[f].combine == TSL_LIST) return true;
  return false;
}

tsl_err tsl_complete_open(tsl_phase *phase) {
  tsl_err err = TSL_OK;
  const int64_t n = phase->plan->n_units;
  if (phase->log != NULL) return TSL_OK;
  TSL_TRY(tsl_alloc(n, sizeof *phase->log, "unit log", (void **)&phase->log));
  if (tsl_complete_lists(phase->problem))
    TSL_TRY(tsl_alloc(n * phase->problem->n_fields, sizeof *phase->lists.of, "lists",
                      (void **)&phase->lists.of));
done:
  return err;
}

tsl_err tsl_complete_restore_lists(tsl_phase *phase, int f, const uint8_t *only,
                                   const int64_t *counts, const char *records) {
  tsl_err err = TSL_OK;
  const tsl_field *field = &phase->problem->fields[f];
  const int64_t record = tsl_field_row(field) * (int64_t)tsl_type_bytes(field->type);
  for (int64_t u = 0; u < phase->plan->n_units; u++) {
    tsl_list *list = &phase->lists.of[u * phase->problem->n_fields + f];
    const size_t bytes = (size_t)(counts[u] * record);
    const char *from = records;
    records += bytes;
    if (counts[u] == 0 || (only != NULL && !only[u])) continue;
    list->data = malloc(bytes);
    if (list->data == NULL)
      TSL_FAIL(TSL_ERR_MEMORY, "field '%s': no memory for the checkpoint's lists", field->name);
    memcpy(list->data, from, bytes);
    list->n = counts[u];
  }
done:
  return err;
}

static tsl_err keep_lists(tsl_phase *phase, const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  char have[24], cap[24];
  for (int f = 0; f < phase->problem->n_fields; f++) {
    const tsl_field *field = &phase->problem->fields[f];
    const int64_t record = tsl_field_row(field) * (int64_t)tsl_type_bytes(field->type);
    if (!(field->role & TSL_OUT) || field->combine != TSL_LIST) continue;
    phase->lists.bytes += part->list[f].n * record;
    phase->lists.of[unit->id * phase->problem->n_fields + f] = part->list[f];
    part->list[f] = (tsl_list){0};
  }
  if (phase->lists.bytes > phase->memory)
    TSL_FAIL(
        TSL_ERR_MEMORY,
        "the list of results exceeds run.memory on this rank (%s of %s); keep fewer records or "
        "raise run.memory",
        tsl_bytes_text((double)phase->lists.bytes, have),
        tsl_bytes_text((double)phase->memory, cap));
done:
  return err;
}

/* Checksum of what the unit streams to the file, field by field. */
static uint64_t check_of(const tsl_phase *phase, const tsl_unit *unit, const tsl_part *part) {
  tsl_checksum sum = {0};
  for (int f = 0; f < phase->problem->n_fields && phase->out != NULL; f++) {
    const int64_t bytes = tsl_slab_bytes(phase->problem, unit, f);
    if (phase->problem->fields[f].stream && bytes > 0) tsl_checksum_add(&sum, part->slab[f], bytes);
  }
  return sum.bytes > 0 ? tsl_checksum_end(&sum) : 0;
}

static void log_unit(tsl_phase *phase, int rank, const tsl_unit *unit, bool dynamic, double start,
                     const tsl_part *part) {
  phase->log[phase->n_log++] =
      (tsl_out_unit){.unit = *unit,
                     .owner = rank,
                     .phase = phase->index,
                     .dynamic = dynamic,
                     .predicted = tsl_cost_seconds(phase->cost, rank, unit),
                     .measured = part->seconds,
                     .check = check_of(phase, unit, part),
                     .start = start - phase->trace->origin};
}

tsl_err tsl_complete_unit(tsl_phase *phase, tsl_result_writer *delivery, int rank,
                          const tsl_unit *unit, bool dynamic, double *start, tsl_part *part) {
  tsl_err err = TSL_OK;
  const double seconds = part->seconds, begin = tsl_now();
  log_unit(phase, rank, unit, dynamic, *start, part);
  phase->busy += seconds;
  TSL_TRY(tsl_trace_add(phase->trace, TSL_TRACK_DEVICE, "unit", unit->id, *start, seconds));
  *start += seconds;
  TSL_TRY(tsl_result_writer_put(delivery, unit, part));
  if (phase->lists.of != NULL) TSL_TRY(keep_lists(phase, unit, part));
  if (tsl_part_has_slabs(part))
    TSL_TRY(
        tsl_trace_add(phase->trace, TSL_TRACK_MAIN, "deliver", unit->id, begin, tsl_now() - begin));
done:
  return err;
}

void tsl_phase_clear(tsl_phase *phase) {
  if (phase->lists.of != NULL)
    for (int64_t k = 0; k < phase->plan->n_units * phase->problem->n_fields; k++)
      free(phase->lists.of[k].data);
  TSL_FREE_ALL(phase->lists.of, phase->log);
  phase->lists = (tsl_lists){0};
  phase->log = NULL;
  phase->n_log = 0;
}
