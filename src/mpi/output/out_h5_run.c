/* What /run and the lines of /results hold; the layout is described in docs/output.md. */
#include "out_h5_own.h"
#include "run_tables.h"

#include <stdio.h>

enum { FORMAT = 1 };

#define OF_UNIT(member, of) TSL_COLUMN_AS(tsl_out_unit, unit.member, #member, of)

static const tsl_column unit_columns[] = {
    OF_UNIT(id, ""),
    OF_UNIT(kind, ""),
    TSL_COLUMNS_OF_3(tsl_out_unit, unit.lo, "lo", ""),
    TSL_COLUMNS_OF_3(tsl_out_unit, unit.hi, "hi", ""),
    OF_UNIT(flops, "1"),
    OF_UNIT(bytes, "B"),
    OF_UNIT(count, "1"),
    TSL_COLUMN_AS(tsl_out_unit, owner, "rank", ""),
    TSL_COLUMNS_2(tsl_out_unit, "", phase, dynamic),
    TSL_COLUMNS_3(tsl_out_unit, "s", predicted, measured, start),
    TSL_COLUMN_AS(tsl_out_unit, check, "checksum", ""),
    TSL_NO_COLUMN,
};

static const tsl_column coefficient_columns[] = {
    TSL_COLUMN(tsl_out_coefficient, rank, ""),
    TSL_TEXT_COLUMN(tsl_out_coefficient, device, "device"),
    TSL_COLUMN(tsl_out_coefficient, kind, ""),
    TSL_TEXT_COLUMN(tsl_out_coefficient, term, "term"),
    TSL_COLUMN_AS(tsl_out_coefficient, seconds, "coefficient", "s"),
    TSL_NO_COLUMN,
};

tsl_err tsl_out_machine(tsl_out *out, const tsl_placement *placements, int64_t n) {
  return tsl_out_table(out, "/run/machine", tsl_machine_columns, placements, sizeof *placements, n);
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
