/* `tesela bench dp`: the engines of dp on one card against their goals and published figures. */
#include "dp_bench.cuh"

#include "new_file.h"

static void dp_bench_print_help(void) {
  printf("tesela bench dp [--quick] [--repeat N] [--only TEXT] [--csv FILE]\n"
         "Engines of dynamic programming on card 0: cells, splits or pairs per second.\n"
         "  --quick      small sizes\n"
         "  --repeat N   runs that count, best of N (3)\n"
         "  --only TEXT  lines that contain TEXT\n"
         "  --csv FILE   also as CSV\n");
}

void dp_bench_print(const dp_bench_options *o, const dp_bench_line *l) {
  const double ratio = l->goal <= 0 ? 0 : l->less ? l->goal / l->value : l->value / l->goal;
  char goal[32] = "-", verdict[32] = "-";
  if (l->goal > 0) {
    (void)snprintf(goal, sizeof goal, "%.4g", l->goal);
    (void)snprintf(verdict, sizeof verdict, "%.2f%s", ratio, ratio >= 1 ? "" : " MISSED");
  }
  printf("%-44s %10.4g %-9s %9s %-12s %9.3f ms  %s\n", l->what, l->value, l->unit, goal, verdict,
         l->seconds * 1e3, l->published);
  (void)fflush(stdout);
  if (o->csv != NULL)
    (void)fprintf(o->csv, "\"%s\",%.6g,%s,%.6g,%.4f,%.6f,\"%s\"\n", l->what, l->value, l->unit,
                  l->goal, ratio, l->seconds * 1e3, l->published);
}

static tsl_err dp_bench_read_options(int argc, char **argv, dp_bench_options *o, bool *help) {
  tsl_err err = TSL_OK;
  for (int a = 1; a < argc; a++) {
    const bool more = a + 1 < argc;
    if (strcmp(argv[a], "--help") == 0)
      *help = true;
    else if (strcmp(argv[a], "--quick") == 0)
      o->quick = true;
    else if (strcmp(argv[a], "--repeat") == 0 && more) {
      o->repeat = atoll(argv[++a]);
      if (o->repeat < 1 || o->repeat > 1000)
        TSL_FAIL(TSL_ERR_USAGE, "--repeat %s; allowed 1..1000", argv[a]);
    } else if (strcmp(argv[a], "--only") == 0 && more)
      o->only = argv[++a];
    else if (strcmp(argv[a], "--csv") == 0 && more)
      TSL_TRY(tsl_new_table_open("--csv", argv[++a], &o->csv));
    else
      TSL_FAIL(TSL_ERR_USAGE, "unknown option '%s'; `tesela bench dp --help` lists them", argv[a]);
  }
done:
  return err;
}

tsl_err dp_bench(int argc, char **argv) {
  tsl_err err = TSL_OK;
  bool help = false;
  dp_bench_options o = {};
  o.repeat = 3;
  TSL_TRY(dp_bench_read_options(argc, argv, &o, &help));
  if (help) {
    dp_bench_print_help();
    goto done;
  }
  TSL_TRY(dp_card_open(0, &o.card));
  if (o.csv != NULL) (void)fputs("what,value,unit,goal,ratio,milliseconds,published\n", o.csv);
  printf("%-44s %10s %-9s %9s %-12s %12s  %s\n", "what", "value", "unit", "goal", "ratio", "time",
         "published elsewhere");
  TSL_TRY(dp_bench_wave(&o));
  TSL_TRY(dp_bench_interval(&o));
  TSL_TRY(dp_bench_rows(&o));
done:
  dp_card_close(&o.card);
  if (o.csv != NULL && fclose(o.csv) != 0 && err == TSL_OK)
    err = tsl_fail(TSL_ERR_IO, __FILE__, __LINE__, "the CSV file could not be written");
  return err;
}
