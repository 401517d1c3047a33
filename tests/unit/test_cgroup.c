/* unit.cgroup: the least that the groups around a process leave, of both versions, in a made-up
 * tree of /proc and /sys. */
#include "cgroup.h"
#include "must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/tesela_cgroup_XXXXXX";

/* Write a file below root, whose folders are made. */
static void put(const char *name, const char *text) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s%s", root, name);
  for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    (void)mkdir(path, 0700);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void nothing_known(void **state) {
  (void)state;
  assert_true(tsl_cgroup_free(root) == INT64_MAX);
  put("/proc/self/cgroup", "3:cpuset:/\nno such form\n0::/gone/far\n");
  assert_true(tsl_cgroup_free(root) == INT64_MAX);
}

/* A step without a limit of its own in a job with one, in a slice with a wider one. */
static void second_version(void **state) {
  (void)state;
  put("/proc/self/cgroup", "0::/slice/job/step\n");
  put("/sys/fs/cgroup/slice/job/step/memory.max", "max\n");
  put("/sys/fs/cgroup/slice/job/step/memory.current", "900\n");
  put("/sys/fs/cgroup/slice/job/memory.max", "1000\n");
  put("/sys/fs/cgroup/slice/job/memory.current", "940\n");
  put("/sys/fs/cgroup/slice/job/memory.stat",
      "anon 500\nfile 440\ninactive_file 300\nactive_file 100\nslab 5\n");
  put("/sys/fs/cgroup/slice/memory.max", "100000\n");
  put("/sys/fs/cgroup/slice/memory.current", "2000\n");
  assert_int_equal(tsl_cgroup_free(root), 1000 - 540);
  put("/sys/fs/cgroup/slice/memory.current", "99900\n");
  assert_int_equal(tsl_cgroup_free(root), 100);
  put("/sys/fs/cgroup/slice/memory.current", "100001\n");
  assert_int_equal(tsl_cgroup_free(root), 0);
}

static void container_shows_its_own(void **state) {
  (void)state;
  put("/proc/self/cgroup", "0::/outside/of/here\n");
  put("/sys/fs/cgroup/memory.max", "5000\n");
  put("/sys/fs/cgroup/memory.current", "1000\n");
  assert_int_equal(tsl_cgroup_free(root), 4000);
}

static void first_version(void **state) {
  (void)state;
  put("/proc/self/cgroup", "5:cpu,cpuacct:/other\n4:hugetlb,memory:/job\n1:name=systemd:/\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "70000\n");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "30000\n");
  put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "20000\n");
  put("/sys/fs/cgroup/memory/job/memory.stat",
      "inactive_file 1\ntotal_inactive_file 4000\ntotal_active_file 1000\n");
  assert_int_equal(tsl_cgroup_free(root), 15000);
}

static int make_root(void **state) {
  (void)state;
  return mkdtemp(root) == NULL;
}

static int remove_root(void **state) {
  char command[64];
  (void)state;
  (void)snprintf(command, sizeof command, "rm -r %s", root);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_known),
      cmocka_unit_test(second_version),
      cmocka_unit_test(container_shows_its_own),
      cmocka_unit_test(first_version),
  };
  return cmocka_run_group_tests_name("unit.cgroup", tests, make_root, remove_root);
}
