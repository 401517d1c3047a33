#include "take.h"

#include "slot.h"

#include <stdlib.h>

bool tsl_take_lists(const tsl_problem *problem) {
  for (int f = 0; f < problem->n_fields; f++)
    if ((problem->fields[f].role & TSL_OUT) && problem->fields[f].combine == TSL_LIST) return true;
  return false;
}

tsl_err tsl_take_open(tsl_phase *phase) {
  tsl_err err = TSL_OK;
  const int64_t n = phase->plan->n_units;
  TSL_TRY(tsl_alloc(n, sizeof *phase->log, "unit log", (void **)&phase->log));
  if (tsl_take_lists(phase->problem))
    TSL_TRY(tsl_alloc(n * phase->problem->n_fields, sizeof *phase->lists.of, "lists",
                      (void **)&phase->lists.of));
done:
  return err;
}

static tsl_err keep_lists(tsl_phase *phase, const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  char have[24], cap[24];
  for (int f = 0; f < phase->problem->n_fields; f++) {
    const tsl_field *field = &phase->problem->fields[f];
    const int64_t record = field->shape[1] * field->shape[2] * (int64_t)tsl_type_bytes(field->type);
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

static void log_unit(tsl_phase *phase, int rank, const tsl_unit *unit, bool dynamic, double start,
                     double seconds) {
  phase->log[phase->n_log++] =
      (tsl_out_unit){.unit = *unit,
                     .owner = rank,
                     .phase = phase->index,
                     .dynamic = dynamic,
                     .predicted = tsl_cost_seconds(phase->cost, rank, unit),
                     .measured = seconds,
                     .start = start - phase->trace->origin};
}

tsl_err tsl_take_unit(tsl_phase *phase, tsl_delivery *delivery, int rank, const tsl_unit *unit,
                      bool dynamic, double *start, tsl_part *part) {
  tsl_err err = TSL_OK;
  const double seconds = part->seconds, begin = tsl_now();
  log_unit(phase, rank, unit, dynamic, *start, seconds);
  phase->busy += seconds;
  TSL_TRY(tsl_trace_add(phase->trace, TSL_TRACK_DEVICE, "unit", unit->id, *start, seconds));
  *start += seconds;
  TSL_TRY(tsl_deliver(delivery, unit, part));
  if (phase->lists.of != NULL) TSL_TRY(keep_lists(phase, unit, part));
  if (tsl_part_has_slabs(part))
    TSL_TRY(
        tsl_trace_add(phase->trace, TSL_TRACK_MAIN, "deliver", unit->id, begin, tsl_now() - begin));
done:
  return err;
}
