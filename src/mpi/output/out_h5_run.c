/* What /run and the lines of /results hold; the layout is described in docs/output.md. */
#include "out_h5_own.h"

#include <stdio.h>
#include <string.h>

enum { FORMAT = 1 };

static const tsl_column seat_columns[] = {
    TSL_COLUMN(tsl_placement, rank, "rank", TSL_I32, ""),
    TSL_COLUMN(tsl_placement, node, "node", TSL_I32, ""),
    TSL_COLUMN(tsl_placement, local_rank, "local_rank", TSL_I32, ""),
    TSL_TEXT_COLUMN(tsl_placement, host, "host"),
    TSL_COLUMN(tsl_placement, device.kind, "kind", TSL_I32, ""),
    TSL_COLUMN(tsl_placement, device.index, "index", TSL_I32, ""),
    TSL_TEXT_COLUMN(tsl_placement, device.name, "device"),
    TSL_TEXT_COLUMN(tsl_placement, device.id, "id"),
    TSL_TEXT_COLUMN(tsl_placement, device.pci, "pci"),
    TSL_COLUMN(tsl_placement, device.numa, "numa", TSL_I32, ""),
    TSL_TEXT_COLUMN(tsl_placement, cpuset, "cpuset"),
    TSL_COLUMN(tsl_placement, threads, "threads", TSL_I32, ""),
    TSL_COLUMN(tsl_placement, device.processors, "processors", TSL_I32, ""),
    TSL_COLUMN(tsl_placement, device.capability, "capability", TSL_I32, ""),
    TSL_COLUMN(tsl_placement, device.memory, "memory", TSL_I64, "B"),
    TSL_COLUMN(tsl_placement, device.memory_free, "memory_free", TSL_I64, "B"),
    TSL_COLUMN(tsl_placement, device.memory_limit, "memory_limit", TSL_I64, "B"),
    TSL_COLUMN(tsl_placement, device.host_limit, "host_limit", TSL_I64, "B"),
    TSL_TEXT_COLUMN(tsl_placement, device.driver, "driver"),
    TSL_NO_COLUMN,
};

static const tsl_column unit_columns[] = {
    TSL_COLUMN(tsl_out_unit, unit.id, "id", TSL_I64, ""),
    TSL_COLUMN(tsl_out_unit, unit.kind, "kind", TSL_I32, ""),
    TSL_COLUMN(tsl_out_unit, unit.lo[0], "lo0", TSL_I64, ""),
    TSL_COLUMN(tsl_out_unit, unit.lo[1], "lo1", TSL_I64, ""),
    TSL_COLUMN(tsl_out_unit, unit.lo[2], "lo2", TSL_I64, ""),
    TSL_COLUMN(tsl_out_unit, unit.hi[0], "hi0", TSL_I64, ""),
    TSL_COLUMN(tsl_out_unit, unit.hi[1], "hi1", TSL_I64, ""),
    TSL_COLUMN(tsl_out_unit, unit.hi[2], "hi2", TSL_I64, ""),
    TSL_COLUMN(tsl_out_unit, unit.flops, "flops", TSL_F64, "1"),
    TSL_COLUMN(tsl_out_unit, unit.bytes, "bytes", TSL_F64, "B"),
    TSL_COLUMN(tsl_out_unit, unit.count, "count", TSL_F64, "1"),
    TSL_COLUMN(tsl_out_unit, owner, "rank", TSL_I32, ""),
    TSL_COLUMN(tsl_out_unit, phase, "phase", TSL_I32, ""),
    TSL_COLUMN(tsl_out_unit, dynamic, "dynamic", TSL_I32, ""),
    TSL_COLUMN(tsl_out_unit, predicted, "predicted", TSL_F64, "s"),
    TSL_COLUMN(tsl_out_unit, measured, "measured", TSL_F64, "s"),
    TSL_COLUMN(tsl_out_unit, start, "start", TSL_F64, "s"),
    TSL_COLUMN(tsl_out_unit, check, "checksum", TSL_U64, ""),
    TSL_NO_COLUMN,
};

static const tsl_column coefficient_columns[] = {
    TSL_COLUMN(tsl_out_coefficient, rank, "rank", TSL_I32, ""),
    TSL_TEXT_COLUMN(tsl_out_coefficient, device, "device"),
    TSL_COLUMN(tsl_out_coefficient, kind, "kind", TSL_I32, ""),
    TSL_TEXT_COLUMN(tsl_out_coefficient, term, "term"),
    TSL_COLUMN(tsl_out_coefficient, seconds, "coefficient", TSL_F64, "s"),
    TSL_NO_COLUMN,
};

tsl_err tsl_out_machine(tsl_out *out, const tsl_placement *placements, int64_t n) {
  return tsl_out_table(out, "/run/machine", seat_columns, placements, sizeof *placements, n);
}

tsl_err tsl_out_units(tsl_out *out, const tsl_out_unit *rows, int64_t n) {
  return tsl_out_table(out, "/run/units", unit_columns, rows, sizeof *rows, n);
}

tsl_err tsl_out_calibration(tsl_out *out, const tsl_out_coefficient *rows, int64_t n) {
  return tsl_out_table(out, "/run/calibration", coefficient_columns, rows, sizeof *rows, n);
}

static const char *text_or_empty(const char *text) {
  return text == NULL ? "" : text;
}

tsl_err tsl_out_about_run(tsl_out *out, const tsl_out_about *about) {
  tsl_err err = TSL_OK;
  const char *const attributes[][2] = {
      {"family", about->family},     {"title", about->title}, {"version", about->version},
      {"git_hash", about->git_hash}, {"plan", about->plan},   {"start_time", about->start_time},
  };
  const char *const texts[][2] = {
      {"/run/command", about->command},
      {"/run/deck", about->deck},
      {"/run/resolved_deck", about->resolved},
      {"/run/facts", about->facts},
  };
  TSL_TRY(tsl_out_attr_i64(out, "/", "tesela_format", FORMAT));
  for (size_t a = 0; a < sizeof attributes / sizeof *attributes; a++)
    TSL_TRY(tsl_out_attr_text(out, "/run", attributes[a][0], text_or_empty(attributes[a][1])));
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
    TSL_TRY(tsl_out_text(out, texts[t][0], text_or_empty(texts[t][1])));
done:
  return err;
}

tsl_err tsl_out_summary(tsl_out *out, const tsl_summary *summary) {
  tsl_err err = TSL_OK;
  char unit[TSL_NAME + 8];
  TSL_TRY(tsl_out_attr_text(out, "/run", "verdict", summary->valid ? "VALID" : "INVALID"));
  TSL_TRY(tsl_out_attr_text(out, "/run", "reason", summary->reason));
  for (int r = 0; r < summary->n_results; r++) {
    const tsl_result *line = &summary->results[r];
    (void)snprintf(unit, sizeof unit, "%s_unit", line->name);
    TSL_TRY(tsl_out_attr_f64(out, "/results", line->name, line->value));
    TSL_TRY(tsl_out_attr_text(out, "/results", unit, line->unit));
  }
done:
  return err;
}
