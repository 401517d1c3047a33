/* `tesela probe`: measure on each rank or recall from the cache folder, gather on rank 0, print
 * each kind of device once, write CSV. */
#include "probe_run.h"

#include "calibrate.h"
#include "collective_error.h"
#include "device_probe.h"
#include "files.h"
#include "help.h"
#include "new_file.h"
#include "probe.h"
#include "stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char tsl_probe_help[] =
    "usage: [mpirun -n RANKS] tesela probe [--device WORDS] [--again] [--csv FILE]\n"
    "                                     [--threads N] [--calibration FILE]\n"
    "\n"
    "Measures what common advice is worth on the devices of this job (a few seconds each): memory\n"
    "access, layouts, transfers, branches, grains of work. Prints each figure beside the best "
    "that\n"
    "the device could reach, and a line of advice. Remembered by host, device, driver and "
    "program.\n"
    "\n"
    "  --device W  auto, gpu, cpu, or one word for each local rank, as run.device\n"
    "  --threads N of a socket's rank, as run.threads\n"
    "  --again     measure anew\n"
    "  --csv FILE  also write the figures of all ranks to FILE, which must not exist\n"
    "  --calibration FILE  a line for each rank goes to this calibration file (run.calibration),\n"
    "              from which plans guess the speed of a device that has computed no such units;\n"
    "              default $XDG_CACHE_HOME/tesela/calibration\n";

typedef struct probe_options {
  bool again, help;
  const char *csv;
  char *device, *calibration;
  int64_t threads;
} probe_options;

static tsl_err read_threads(const char *text, int64_t *threads) {
  enum { MOST = 4096 };
  tsl_err err = TSL_OK;
  char *end = NULL;
  *threads = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || *threads < 1 || *threads > MOST)
    TSL_FAIL(TSL_ERR_USAGE, "--threads %.40s: 1 to %d; see `tesela probe --help`", text, MOST);
done:
  return err;
}

static tsl_err probe_run_parse(int argc, char **argv, probe_options *o) {
  tsl_err err = TSL_OK;
  *o = (probe_options){.csv = NULL};
  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "--again") == 0)
      o->again = true;
    else if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0)
      o->help = true;
    else if (strcmp(argv[k], "--csv") == 0 && k + 1 < argc)
      o->csv = argv[++k];
    else if (strcmp(argv[k], "--calibration") == 0 && k + 1 < argc)
      o->calibration = argv[++k];
    else if (strcmp(argv[k], "--threads") == 0 && k + 1 < argc)
      TSL_TRY(read_threads(argv[++k], &o->threads));
    else if (strcmp(argv[k], "--device") == 0 && k + 1 < argc)
      o->device = argv[++k];
    else
      TSL_FAIL(TSL_ERR_USAGE,
               "'%s' is not an option of `tesela probe`, or lacks its value; see "
               "`tesela probe --help`",
               argv[k]);
  }
done:
  return err;
}

/* ---- what is remembered */

enum { PATH = 1100, KEY = 400, LINE = 600 };

/* Another program, driver or device makes another key. */
static void make_key(const tsl_placement *placement, char key[KEY]) {
  struct stat binary = {0};
  (void)stat("/proc/self/exe", &binary);
  (void)snprintf(key, KEY, "%s|%s|%s|%s|%d threads|%lld|%lld", placement->host,
                 placement->device.name, placement->device.id, placement->device.driver,
                 placement->device.threads, (long long)binary.st_mtime, (long long)binary.st_size);
}

/* Beside the calibration file: probe-HOST-DEVICE. */
static tsl_err make_path(const tsl_placement *placement, char path[PATH]) {
  tsl_err err = TSL_OK;
  const tsl_run_settings standard = {.calibration = NULL};
  char file[900], *slash;
  TSL_TRY(tsl_calibration_path(&standard, file, sizeof file));
  slash = strrchr(file, '/');
  if (slash != NULL) *slash = '\0';
  (void)snprintf(path, PATH, "%s/probe-%s-%s", slash != NULL ? file : ".", placement->host,
                 placement->device.id);
  for (char *c = path + strlen(path); c > path && *c != '/'; c--)
    if (*c == ' ') *c = '_';
done:
  return err;
}

static void write_figure(FILE *file, const tsl_figure *f) {
  (void)fprintf(file, "%s\t%s\t%.17g\t%s\t%.17g\t%d\t%d\t%s\n", f->group, f->name, f->value,
                f->unit, f->peak, f->smaller, f->term, f->advice);
}

/* A home that cannot be written is no error: the figures were printed. */
static void remember(const char *path, const char *key, const tsl_figures *f) {
  char part[PATH + 8];
  FILE *file;
  bool good;
  (void)snprintf(part, sizeof part, "%s.part", path);
  tsl_files_make_folders(path);
  file = fopen(part, "w");
  if (file == NULL) return;
  (void)fprintf(file, "%s\t%lld\n", key, (long long)f->n);
  for (int64_t k = 0; k < f->n; k++) write_figure(file, &f->list[k]);
  good = ferror(file) == 0;
  good = fclose(file) == 0 && good;
  if (!good || rename(part, path) != 0) (void)unlink(part);
}

static bool take_text(char **rest, char *out, size_t size) {
  const char *word = strsep(rest, "\t");
  if (word == NULL || strlen(word) >= size) return false;
  memcpy(out, word, strlen(word) + 1);
  return true;
}

static bool read_figure(char *line, tsl_figure *f) {
  char number[4][40];
  char *rest = line;
  line[strcspn(line, "\n")] = '\0';
  *f = (tsl_figure){.value = 0};
  if (!take_text(&rest, f->group, sizeof f->group) || !take_text(&rest, f->name, sizeof f->name) ||
      !take_text(&rest, number[0], sizeof number[0]) ||
      !take_text(&rest, f->unit, sizeof f->unit) ||
      !take_text(&rest, number[1], sizeof number[1]) ||
      !take_text(&rest, number[2], sizeof number[2]) ||
      !take_text(&rest, number[3], sizeof number[3]) ||
      !take_text(&rest, f->advice, sizeof f->advice))
    return false;
  f->value = strtod(number[0], NULL), f->peak = strtod(number[1], NULL);
  f->smaller = number[2][0] == '1', f->term = (int32_t)strtol(number[3], NULL, 10);
  return isfinite(f->value) && isfinite(f->peak);
}

/* The first line: the key and how many figures follow. */
static bool read_head(FILE *file, const char *key, long long *n) {
  char line[LINE], *tab;
  if (fgets(line, sizeof line, file) == NULL) return false;
  tab = strchr(line, '\t');
  if (tab == NULL) return false;
  *tab = '\0';
  *n = strtoll(tab + 1, NULL, 10);
  return strcmp(line, key) == 0;
}

/* Only a whole file with this key counts. */
static bool recall(const char *path, const char *key, tsl_figures *f) {
  char line[LINE];
  long long n = 0;
  bool good = false;
  FILE *file = fopen(path, "r");
  f->n = 0;
  if (file == NULL) return false;
  good = read_head(file, key, &n);
  while (good && fgets(line, sizeof line, file) != NULL)
    good = f->n < TSL_MAX_FIGURES && read_figure(line, &f->list[f->n++]);
  (void)fclose(file);
  return good && n > 0 && f->n == n;
}

/* ---- measuring, on the compute thread */

typedef struct probing {
  tsl_task task;
  const tsl_placement *placement;
  tsl_figures *figures;
} probing;

static tsl_err probe_device(tsl_task *task) {
  probing *p = (probing *)task;
  return tsl_platform_of(p->placement)->probe(&p->placement->device, p->figures);
}

static tsl_err probe_run_measure(tsl_session *s, tsl_figures *f) {
  tsl_err err = TSL_OK;
  probing p = {.task.run = probe_device, .placement = s->executor.placement, .figures = f};
  if (tsl_platform_of(p.placement)->probe == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "the platform %s has no probe in this build",
             tsl_platform_of(p.placement)->name);
  TSL_TRY(tsl_compute_thread_call(s->executor.thread, &p.task));
done:
  return err;
}

/* All ranks of a host measure when one has to: a shared memory must be shared here as well. */
static tsl_err figures_of_rank(tsl_session *s, bool again, tsl_figures *f, int *fresh) {
  tsl_err err = TSL_OK;
  char key[KEY], path[PATH];
  int mine = 0;
  make_key(s->executor.placement, key);
  TSL_COLLECTIVE_TRY(s->comm, make_path(s->executor.placement, path));
  mine = again || !recall(path, key, f);
  TSL_MPI(MPI_Allreduce(&mine, fresh, 1, MPI_INT, MPI_MAX, s->comm));
  if (*fresh == 0) goto done;
  memset(f, 0, sizeof *f);
  TSL_MPI(MPI_Barrier(s->comm));
  TSL_COLLECTIVE_TRY(s->comm, probe_run_measure(s, f));
  remember(path, key, f);
done:
  return err;
}

/* ---- printing */

static void print_figure(const tsl_figure *f) {
  char share[24] = "";
  if (f->peak > 0 && f->value > 0)
    (void)snprintf(share, sizeof share, "%.0f %%",
                   100 * (f->smaller ? f->peak / f->value : f->value / f->peak));
  printf("  %-38s %10.4g %-8s %7s  %s\n", f->name, f->value, f->unit, share, f->advice);
}

static void print_figures(const tsl_figures *f) {
  for (int64_t k = 0; k < f->n; k++) {
    if (k == 0 || strcmp(f->list[k].group, f->list[k - 1].group) != 0)
      printf("%s\n", f->list[k].group);
    print_figure(&f->list[k]);
  }
}

/* Equal devices should be equal: say where they are not. */
static void print_difference(const tsl_figures *one, const tsl_figures *other, int rank) {
  static const double APART = 0.1;
  for (int64_t k = 0; k < one->n && k < other->n; k++) {
    const double a = one->list[k].value, b = other->list[k].value;
    if (a > 0 && fabs(b / a - 1) > APART && one->list[k].peak == 0)
      printf("  rank %d: %s, %s: %.4g %s, %+.0f %%\n", rank, one->list[k].group, one->list[k].name,
             b, one->list[k].unit, 100 * (b / a - 1));
  }
}

static bool same_device(const tsl_placement *a, const tsl_placement *b) {
  return strcmp(a->device.name, b->device.name) == 0 && a->device.threads == b->device.threads;
}

static void print_all(const tsl_session *s, const tsl_figures *all, int fresh) {
  for (int r = 0; r < s->size; r++) {
    int first = 0;
    while (!same_device(&s->placements[first], &s->placements[r])) first++;
    if (first != r) continue;
    printf("\n%s (rank %d, %s, %s)%s\n", s->placements[r].device.name, r, s->placements[r].host,
           s->placements[r].device.id, fresh ? "" : ", remembered; --again measures anew");
    printf("  %-38s %10s %-8s %7s\n", "", "measured", "", "of best");
    print_figures(&all[r]);
    for (int other = r + 1; other < s->size; other++)
      if (same_device(&s->placements[r], &s->placements[other]))
        print_difference(&all[r], &all[other], other);
  }
}

static tsl_err write_csv(const tsl_session *s, const tsl_figures *all, const char *path) {
  tsl_err err = TSL_OK;
  FILE *file = NULL;
  TSL_TRY(tsl_new_table_open("--csv", path, &file));
  (void)fprintf(file, "rank,host,device,group,figure,value,unit,best\n");
  for (int r = 0; r < s->size; r++)
    for (int64_t k = 0; k < all[r].n; k++) {
      const tsl_figure *f = &all[r].list[k];
      (void)fprintf(file, "%d,%s,\"%s\",%s,\"%s\",%.6g,%s,%.6g\n", r, s->placements[r].host,
                    s->placements[r].device.name, f->group, f->name, f->value, f->unit, f->peak);
    }
done:
  return tsl_new_table_close("--csv", path, &file, err);
}

/* ---- for the cost model */

/* Root. A line for each rank that the file has none of, or whose figures are fresh: of several the
 * last one holds. */
static tsl_err store_guesses(const tsl_session *s, const tsl_figures *all, bool fresh) {
  tsl_err err = TSL_OK;
  char rank_key[TSL_COST_KEY];
  bool *wanted = NULL;
  FILE *file = NULL;
  tsl_calibration_line known;
  TSL_TRY(tsl_alloc(s->size, sizeof *wanted, "probes", (void **)&wanted));
  for (int r = 0; r < s->size; r++) {
    tsl_calibration_key(&s->placements[r], NULL, NULL, rank_key);
    TSL_TRY(tsl_device_probe_of(&s->run, rank_key, &known));
    wanted[r] = fresh || known.kind != TSL_PROBE;
  }
  file = tsl_calibration_append(&s->run);
  for (int r = 0; r < s->size && file != NULL; r++)
    if (wanted[r]) TSL_TRY(tsl_device_probe_put(file, &s->placements[r], &all[r]));
done:
  tsl_free(wanted);
  if (file != NULL) (void)fclose(file);
  return err;
}

/* Root. What is wrong with the files to be written. */
static tsl_err check_names(const tsl_session *s, const probe_options *o) {
  tsl_err err = TSL_OK;
  if (o->csv != NULL) TSL_TRY(tsl_new_table_check("--csv", o->csv));
  TSL_TRY(tsl_calibration_check(&s->run));
done:
  return err;
}

/* ---- the subcommand */

static tsl_err probe_session(tsl_session *s, const probe_options *o, tsl_figures *all) {
  tsl_err err = TSL_OK;
  tsl_figures mine = {.n = 0};
  int fresh = 0;
  s->run.device = o->device;
  s->run.calibration = o->calibration;
  s->run.threads = o->threads;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? check_names(s, o) : TSL_OK);
  TSL_TRY(tsl_session_machine(s));
  TSL_TRY(tsl_session_memory(s));
  if (s->rank == 0) tsl_machine_print(s->placements, s->size, stdout), fflush(stdout);
  TSL_TRY(figures_of_rank(s, o->again, &mine, &fresh));
  TSL_MPI(
      MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, 0, s->comm));
  if (s->rank == 0) print_all(s, all, fresh);
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? store_guesses(s, all, fresh != 0) : TSL_OK);
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 && o->csv != NULL ? write_csv(s, all, o->csv) : TSL_OK);
done:
  return err;
}

tsl_err tsl_probe(MPI_Comm comm, int argc, char **argv) {
  tsl_err err = TSL_OK;
  probe_options options;
  tsl_session session = {.comm = MPI_COMM_NULL};
  tsl_figures *all = NULL;
  int size = 1;
  TSL_TRY(probe_run_parse(argc, argv, &options));
  if (options.help) return tsl_help(comm, "probe");
  TSL_MPI(MPI_Comm_size(comm, &size));
  TSL_TRY(tsl_alloc(size, sizeof *all, "probe", (void **)&all));
  TSL_TRY(tsl_session_open(comm, NULL, &session));
  TSL_TRY(probe_session(&session, &options, all));
done:
  tsl_free(all);
  tsl_session_close(&session);
  return err;
}
