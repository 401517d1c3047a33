/* unit.scratch: a scratch file gives back what it was given, keeps its limit, leaves no name. */
#include "must.h"
#include "scratch_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/tesela_scratch_XXXXXX";

static int names_in(const char *path) {
  int n = 0;
  DIR *open = opendir(path);
  assert_non_null(open);
  for (const struct dirent *entry; (entry = readdir(open)) != NULL;) n += entry->d_name[0] != '.';
  (void)closedir(open);
  return n;
}

static void gives_back(void **state) {
  enum { PIECES = 50, MOST = 100000 };
  tsl_scratch_file file;
  static unsigned char out[MOST], in[MOST];
  int64_t at[PIECES], n[PIECES];
  (void)state;
  MUST(tsl_scratch_open(folder, INT64_MAX, &file));
  assert_int_equal(names_in(folder), 0);
  assert_true(tsl_scratch_free(&file) > 0);
  for (int k = 0; k < PIECES; k++) {
    n[k] = k * (MOST / PIECES);
    memset(out, k + 1, (size_t)n[k]);
    MUST(tsl_scratch_append(&file, out, n[k], &at[k]));
  }
  for (int k = PIECES - 1; k >= 0; k--) {
    memset(out, k + 1, (size_t)n[k]);
    MUST(tsl_scratch_read(&file, at[k], n[k], in));
    assert_memory_equal(in, out, (size_t)n[k]);
  }
  assert_int_equal(tsl_scratch_read(&file, file.used - 1, 2, in), TSL_ERR_IO);
  assert_non_null(strstr(tsl_err_message(), "ends too early"));
  tsl_scratch_close(&file);
  tsl_scratch_close(&file);
}

static void keeps_its_limit(void **state) {
  tsl_scratch_file file;
  int64_t at = -1;
  (void)state;
  MUST(tsl_scratch_open(folder, 10, &file));
  MUST(tsl_scratch_append(&file, "1234567", 7, &at));
  assert_int_equal(tsl_scratch_append(&file, "1234", 4, &at), TSL_ERR_IO);
  assert_non_null(strstr(tsl_err_message(), "more than its 10 B"));
  MUST(tsl_scratch_append(&file, "123", 3, &at));
  assert_int_equal(at, 7);
  tsl_scratch_close(&file);
}

static void needs_a_folder(void **state) {
  tsl_scratch_file file;
  (void)state;
  assert_int_equal(tsl_scratch_open("/tmp/tesela/is/not/here", 10, &file), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "No such file"));
  tsl_scratch_close(&file);
  assert_int_equal(tsl_scratch_open("/dev/null", 10, &file), TSL_ERR_INPUT);
  tsl_scratch_close(&file);
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gives_back),
                                     cmocka_unit_test(keeps_its_limit),
                                     cmocka_unit_test(needs_a_folder)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
