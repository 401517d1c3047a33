/* `tesela show FILE`: read an output file, which may be damaged or foreign, and print it. */
#include "show_own.h"

#include "contract.h"
#include "sandbox.h"
#include "show.h"
#include "text.h"

#include <errno.h>
#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STANDARD_VALUES = 6, MOST_VALUES = 1000 };
enum { SAMPLE = 1 << 20, TEXT = 4096 };

const char tsl_show_help[] =
    "usage: tesela show FILE [--values N]\n"
    "\n"
    "Print verdict, results, ranks and datasets of an output file.\n"
    "  --values N  first values of each dataset to print, 0 to 1000 (standard 6)\n";

typedef struct show {
  hid_t file;
  int64_t values;
  int n_failed; /* objects that could not be read */
} show;

/* ------------------------------------------------------------------- reading */

bool tsl_show_has(hid_t file, const char *path) {
  H5L_info_t link;
  return H5Lexists(file, path, H5P_DEFAULT) > 0 &&
         H5Lget_info(file, path, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
}

bool tsl_show_inside(hid_t dataset) {
  const hid_t plan = H5Dget_create_plist(dataset);
  const bool inside =
      plan >= 0 && H5Pget_layout(plan) != H5D_VIRTUAL && H5Pget_external_count(plan) == 0;
  if (plan >= 0) (void)H5Pclose(plan);
  return inside;
}

/* Text attribute or scalar text dataset, cut at bytes - 1; empty when absent. */
static bool read_text(hid_t object, bool attribute, char *text, size_t bytes) {
  const hid_t type = attribute ? H5Aget_type(object) : H5Dget_type(object);
  const hid_t space = attribute ? H5Aget_space(object) : H5Dget_space(object);
  const hid_t memory = H5Tcopy(H5T_C_S1);
  char *found = NULL;
  bool good = false;
  text[0] = '\0';
  if (type >= 0 && memory >= 0 && H5Tget_class(type) == H5T_STRING &&
      H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) == 1 &&
      H5Tset_size(memory, H5T_VARIABLE) >= 0 && H5Tset_cset(memory, H5Tget_cset(type)) >= 0) {
    good = attribute ? H5Aread(object, memory, &found) >= 0
                     : H5Dread(object, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, &found) >= 0;
    if (good && found != NULL) (void)snprintf(text, bytes, "%s", found);
    if (good && found != NULL) (void)H5free_memory(found);
  }
  if (memory >= 0) (void)H5Tclose(memory);
  if (space >= 0) (void)H5Sclose(space);
  if (type >= 0) (void)H5Tclose(type);
  return good;
}

static bool text_attribute(hid_t object, const char *name, char *text, size_t bytes) {
  bool good = false;
  hid_t attribute = -1;
  text[0] = '\0';
  if (H5Aexists(object, name) <= 0) return false;
  attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute >= 0) {
    good = read_text(attribute, true, text, bytes);
    (void)H5Aclose(attribute);
  }
  return good;
}

/* Scalar number attribute as double. */
static bool number_attribute(hid_t object, const char *name, double *value) {
  bool good = false;
  hid_t attribute = -1, type = -1, space = -1;
  if (H5Aexists(object, name) <= 0) return false;
  attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return false;
  type = H5Aget_type(attribute);
  space = H5Aget_space(attribute);
  if (type >= 0 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
      (H5Tget_class(type) == H5T_FLOAT || H5Tget_class(type) == H5T_INTEGER))
    good = H5Aread(attribute, H5T_NATIVE_DOUBLE, value) >= 0;
  if (space >= 0) (void)H5Sclose(space);
  if (type >= 0) (void)H5Tclose(type);
  (void)H5Aclose(attribute);
  return good;
}

static void print_label(const char *label, const char *text) {
  if (text[0] == '\0') return;
  printf("%-9s ", label);
  tsl_text_print(stdout, text);
  printf("\n");
}

static void show_text_dataset(show *s, const char *path, const char *label) {
  char text[TEXT];
  hid_t dataset = -1;
  if (!tsl_show_has(s->file, path)) return;
  dataset = H5Dopen2(s->file, path, H5P_DEFAULT);
  if (dataset >= 0 && tsl_show_inside(dataset) && read_text(dataset, false, text, sizeof text))
    print_label(label, text);
  else
    s->n_failed++;
  if (dataset >= 0) (void)H5Dclose(dataset);
}

static void show_run(show *s, hid_t run) {
  static const char *const lines[][2] = {{"title", "title"},     {"family", "family"},
                                         {"version", "version"}, {"git", "git_hash"},
                                         {"plan", "plan"},       {"started", "start_time"}};
  char verdict[64], text[TEXT];
  (void)text_attribute(run, "verdict", verdict, sizeof verdict);
  (void)text_attribute(run, "reason", text, sizeof text);
  printf("%-9s ", "verdict");
  tsl_text_print(stdout, verdict[0] != '\0' ? verdict : "none stored");
  if (text[0] != '\0') printf(": ");
  tsl_text_print(stdout, text);
  printf("\n");
  for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
    (void)text_attribute(run, lines[l][1], text, sizeof text);
    print_label(lines[l][0], text);
  }
  show_text_dataset(s, "/run/command", "command");
}

typedef struct walk {
  show *s;
  int printed;
  bool results; /* lines NAME with NAME_unit; false: plain numbers of /run */
} walk;

static herr_t show_number(hid_t object, const char *name, const H5A_info_t *info, void *arg) {
  walk *w = arg;
  char unit_name[256], unit[TSL_NAME] = "";
  double value = 0;
  (void)info;
  if (!number_attribute(object, name, &value)) return 0;
  if (w->printed++ == 0) printf("\n%s\n", w->results ? "Results" : "Run");
  (void)snprintf(unit_name, sizeof unit_name, "%.240s_unit", name);
  (void)text_attribute(object, unit_name, unit, sizeof unit);
  printf("  ");
  tsl_text_print(stdout, name);
  printf(" = %.10g", value);
  if (unit[0] != '\0' && strcmp(unit, "1") != 0) printf(" "), tsl_text_print(stdout, unit);
  printf("\n");
  return 0;
}

static void show_numbers(show *s, hid_t group, bool results) {
  walk w = {s, 0, results};
  if (H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, NULL, show_number, &w) < 0) s->n_failed++;
}

typedef struct extent {
  int rank;
  hsize_t dims[H5S_MAX_RANK];
  hsize_t total;
} extent;

/* First box of at most limit elements: whole rows as far as they fit, else a part of a row. */
static hsize_t first_box(const extent *e, hsize_t limit, hsize_t count[H5S_MAX_RANK]) {
  hsize_t n = 1;
  for (int k = e->rank - 1; k >= 0; k--) {
    const hsize_t room = limit / n;
    count[k] = e->dims[k] < room ? e->dims[k] : room;
    n *= count[k];
    if (count[k] < e->dims[k]) limit = n; /* outer extents stay at one */
  }
  return n;
}

static void print_number(hid_t type, double value, int64_t exact) {
  if (H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE)
    printf("%" PRIu64, (uint64_t)exact);
  else if (H5Tget_class(type) == H5T_INTEGER)
    printf("%" PRId64, exact);
  else
    printf("%.7g", value);
}

static void print_sample(const show *s, hid_t type, const extent *e, const double *values,
                         const int64_t *exact, hsize_t n) {
  hsize_t low = 0, high = 0, bad = 0;
  for (hsize_t i = 0; i < n; i++) {
    if (values[i] != values[i]) bad++;
    if (values[i] < values[low] || values[low] != values[low]) low = i;
    if (values[i] > values[high] || values[high] != values[high]) high = i;
  }
  printf("    min ");
  print_number(type, values[low], exact[low]);
  printf(", max ");
  print_number(type, values[high], exact[high]);
  if (bad > 0) printf(", %llu not a number", (unsigned long long)bad);
  if (n < e->total) printf(" (of the first %llu)", (unsigned long long)n);
  printf("\n");
  if (s->values == 0) return;
  printf("    ");
  for (hsize_t i = 0; i < n && i < (hsize_t)s->values; i++) {
    print_number(type, values[i], exact[i]);
    printf(" ");
  }
  printf("%s\n", e->total > (hsize_t)s->values ? "..." : "");
}

/* Minimum, maximum and first values of a dataset of numbers. */
static bool sample(const show *s, hid_t dataset, hid_t space, hid_t type, const extent *e) {
  hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
  const hsize_t n = first_box(e, SAMPLE, count);
  double *values = calloc(n, sizeof *values);
  int64_t *exact = calloc(n, sizeof *exact);
  const hid_t memory = H5Screate_simple(1, &n, NULL);
  bool good = values != NULL && exact != NULL && memory >= 0 && tsl_show_inside(dataset) &&
              H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
              H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0;
  if (good && H5Tget_class(type) == H5T_INTEGER)
    good =
        H5Dread(dataset, H5Tget_sign(type) == H5T_SGN_NONE ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64,
                memory, space, H5P_DEFAULT, exact) >= 0;
  if (good) print_sample(s, type, e, values, exact, n);
  if (memory >= 0) (void)H5Sclose(memory);
  free(exact);
  free(values);
  return good;
}

static void print_head(hid_t dataset, const char *name, hid_t type, const extent *e) {
  char unit[TSL_NAME], doc[200];
  const H5T_class_t class = H5Tget_class(type);
  (void)text_attribute(dataset, "unit", unit, sizeof unit);
  (void)text_attribute(dataset, "doc", doc, sizeof doc);
  printf("  ");
  tsl_text_print(stdout, name);
  for (int k = 0; k < e->rank; k++)
    printf("%s%llu", k == 0 ? "  [" : " x ", (unsigned long long)e->dims[k]);
  printf("%s  %s%zu", e->rank > 0 ? "]" : "",
         class == H5T_FLOAT                  ? "f"
         : class != H5T_INTEGER              ? "other "
         : H5Tget_sign(type) == H5T_SGN_NONE ? "u"
                                             : "i",
         H5Tget_size(type) * 8);
  if (unit[0] != '\0' && strcmp(unit, "1") != 0) printf("  in "), tsl_text_print(stdout, unit);
  printf("\n");
  if (doc[0] != '\0') printf("    "), tsl_text_print(stdout, doc), printf("\n");
}

static void show_dataset(show *s, hid_t dataset, const char *name) {
  extent e = {0};
  const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  bool good = space >= 0 && type >= 0;
  if (good) e.rank = H5Sget_simple_extent_dims(space, e.dims, NULL);
  good = good && e.rank >= 0;
  if (good) {
    e.total = (hsize_t)H5Sget_simple_extent_npoints(space);
    print_head(dataset, name, type, &e);
    if (e.total == 0)
      printf("    empty\n");
    else if (e.rank > 0 && (H5Tget_class(type) == H5T_FLOAT || H5Tget_class(type) == H5T_INTEGER))
      good = sample(s, dataset, space, type, &e);
  }
  if (!good) printf("    cannot be read: the file is damaged here\n"), s->n_failed++;
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
}

static herr_t show_link(hid_t group, const char *name, const H5L_info_t *info, void *arg) {
  show *s = arg;
  H5O_info_t object;
  hid_t dataset = -1;
  if (info->type != H5L_TYPE_HARD) return 0; /* links may lead out of the file */
  if (H5Oget_info_by_name2(group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
    return s->n_failed++, 0;
  if (object.type != H5O_TYPE_DATASET) return 0;
  dataset = H5Dopen2(group, name, H5P_DEFAULT);
  if (dataset < 0) return s->n_failed++, 0;
  show_dataset(s, dataset, name);
  (void)H5Dclose(dataset);
  return 0;
}

static void show_group(show *s, const char *path, const char *label) {
  hsize_t at = 0;
  H5G_info_t info = {0};
  const hid_t group = H5Gopen2(s->file, path, H5P_DEFAULT);
  if (group < 0 || H5Gget_info(group, &info) < 0)
    s->n_failed++;
  else if (info.nlinks > 0) {
    printf("\n%s\n", label);
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, show_link, s) < 0) s->n_failed++;
  }
  if (group >= 0) (void)H5Gclose(group);
}

/* ---------------------------------------------------------------------- entry */

static tsl_err read_arguments(int argc, char **argv, const char **path, int64_t *values) {
  tsl_err err = TSL_OK;
  *path = NULL;
  *values = STANDARD_VALUES;
  for (int a = 1; a < argc; a++) {
    char *end = NULL;
    if (strcmp(argv[a], "--values") == 0) {
      if (a + 1 == argc) TSL_FAIL(TSL_ERR_USAGE, "--values needs a number\n%s", tsl_show_help);
      *values = strtoll(argv[++a], &end, 10);
      if (end == argv[a] || *end != '\0' || *values < 0 || *values > MOST_VALUES)
        TSL_FAIL(TSL_ERR_USAGE, "--values '%s': allowed are 0 to %d", argv[a], MOST_VALUES);
    } else if (argv[a][0] == '-' && argv[a][1] != '\0')
      TSL_FAIL(TSL_ERR_USAGE, "unknown option '%s'\n%s", argv[a], tsl_show_help);
    else if (*path != NULL)
      TSL_FAIL(TSL_ERR_USAGE, "one file at a time\n%s", tsl_show_help);
    else
      *path = argv[a];
  }
  if (*path == NULL) TSL_FAIL(TSL_ERR_USAGE, "no file given\n%s", tsl_show_help);
done:
  return err;
}

static tsl_err check_file(const char *path) {
  tsl_err err = TSL_OK;
  struct stat st;
  if (stat(path, &st) != 0) TSL_FAIL(TSL_ERR_INPUT, "%s: %s", path, strerror(errno));
  if (S_ISDIR(st.st_mode)) TSL_FAIL(TSL_ERR_INPUT, "%s is a folder", path);
  if (!S_ISREG(st.st_mode)) TSL_FAIL(TSL_ERR_INPUT, "%s is not a regular file", path);
  if (access(path, R_OK) != 0) TSL_FAIL(TSL_ERR_INPUT, "%s: %s", path, strerror(errno));
  if (H5Fis_hdf5(path) <= 0) TSL_FAIL(TSL_ERR_INPUT, "%s is not an HDF5 file", path);
done:
  return err;
}

static tsl_err show_file(show *s, const char *path) {
  tsl_err err = TSL_OK;
  hid_t run = -1, results = -1;
  s->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (s->file < 0) TSL_FAIL(TSL_ERR_INPUT, "%s: truncated, damaged, or still being written", path);
  if (H5Aexists(s->file, "tesela_format") <= 0 || !tsl_show_has(s->file, "/run") ||
      !tsl_show_has(s->file, "/results"))
    TSL_FAIL(TSL_ERR_INPUT, "%s is an HDF5 file, but no output of tesela", path);
  run = H5Gopen2(s->file, "/run", H5P_DEFAULT);
  results = H5Gopen2(s->file, "/results", H5P_DEFAULT);
  if (run < 0 || results < 0) TSL_FAIL(TSL_ERR_INPUT, "%s is damaged: no groups to read", path);
  show_run(s, run);
  show_numbers(s, results, true);
  show_numbers(s, run, false);
  s->n_failed += tsl_show_ranks(s->file) + tsl_show_balance(s->file);
  show_group(s, "/results", "Datasets of /results");
  if (tsl_show_has(s->file, "/input")) show_group(s, "/input", "Datasets of /input");
  if (s->n_failed > 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s is damaged: %d of its parts cannot be read", path, s->n_failed);
done:
  if (results >= 0) (void)H5Gclose(results);
  if (run >= 0) (void)H5Gclose(run);
  return err;
}

tsl_err tsl_show_file(const char *path, int64_t values) {
  tsl_err err = TSL_OK;
  show s = {.file = -1, .values = values};
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  TSL_TRY(check_file(path));
  TSL_TRY(show_file(&s, path));
done:
  if (s.file >= 0) (void)H5Fclose(s.file);
  return err;
}

typedef struct wish {
  int64_t values;
  char path[PATH_MAX];
} wish;

static tsl_err show_wish(const void *ask, int to) {
  const wish *w = ask;
  (void)to;
  return tsl_show_file(w->path, w->values);
}

tsl_err tsl_show(int argc, char **argv) {
  tsl_err err = TSL_OK;
  const char *path;
  wish w = {0};
  const tsl_sandbox_sides sides = {.part = show_wish, .ask = &w, .n_ask = (int64_t)sizeof w};
  for (int a = 1; a < argc; a++)
    if (strcmp(argv[a], "--help") == 0 || strcmp(argv[a], "-h") == 0)
      return fputs(tsl_show_help, stdout), TSL_OK;
  TSL_TRY(read_arguments(argc, argv, &path, &w.values));
  if (strlen(path) >= sizeof w.path) TSL_FAIL(TSL_ERR_INPUT, "%s: the name is too long", path);
  strcpy(w.path, path);
  TSL_TRY(tsl_sandbox(path, &sides));
done:
  return err;
}
