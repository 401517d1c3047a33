/** @file bench_options.c  Parser of the options that all benchmarks of sockets take. */
#include "bench_options.h"

#include "cpu.h"
#include "new_file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 4096 };

tsl_err bench_options_read(int argc, char **argv, int threads, bench_options *o) {
  tsl_err err = TSL_OK;
  *o = (bench_options){.threads = threads};
  for (int k = 1; k < argc; k++) {
    const bool more = k + 1 < argc;
    if (strcmp(argv[k], "--quick") == 0)
      o->quick = true;
    else if (strcmp(argv[k], "--help") == 0)
      o->help = true;
    else if (strcmp(argv[k], "--csv") == 0 && more)
      o->csv = argv[++k];
    else if (strcmp(argv[k], "--threads") == 0 && more) {
      char *end = NULL;
      const long n = strtol(argv[++k], &end, 10);
      if (*end != '\0' || n < 1 || n > MOST_THREADS)
        TSL_FAIL(TSL_ERR_USAGE, "--threads %s: a number from 1 to %d is needed", argv[k],
                 MOST_THREADS);
      o->threads = (int)n;
    } else
      TSL_FAIL(TSL_ERR_USAGE, "bench %s: '%s' unknown or without its value; see --help", argv[0],
               argv[k]);
  }
done:
  return err;
}

tsl_err bench_socket(int argc, char **argv, int threads, const bench_about *about) {
  tsl_err err = TSL_OK;
  bench_options o;
  TSL_TRY(bench_options_read(argc, argv, threads, &o));
  if (o.help) {
    (void)fputs(about->help, stdout);
    goto done;
  }
  TSL_TRY(tsl_cpu_level_use(&o.level));
  if (o.csv != NULL) TSL_TRY(tsl_new_table_open("--csv", o.csv, &o.table));
  if (o.table != NULL) (void)fprintf(o.table, "%s\n", about->header);
  printf("%s on a socket: %d thread%s, SIMD level %d\n", about->family, o.threads,
         o.threads == 1 ? "" : "s", o.level);
  TSL_TRY(about->run(&o));
done:
  err = tsl_new_table_close("--csv", o.csv, &o.table, err);
  return err;
}
