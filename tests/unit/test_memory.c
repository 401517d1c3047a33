/* unit.memory: lists that grow keep what they hold; free memory is some of the host's. */
#include "memory.h"
#include "must.h"

#include <stdint.h>
#include <unistd.h>

static void grow_keeps_elements(void **state) {
  int64_t *list = NULL, room = 0;
  (void)state;
  for (int64_t n = 0; n < 1000; n++) {
    MUST(tsl_grow((void **)&list, n, 1, &room, sizeof *list, "numbers"));
    assert_true(room > n);
    list[n] = n * n;
  }
  for (int64_t n = 0; n < 1000; n++) assert_int_equal(list[n], n * n);
  assert_true(room < 2048);
  tsl_free(list);
}

static void grow_makes_room_for_many(void **state) {
  int64_t room = 0;
  char *list = NULL;
  void *before = NULL;
  (void)state;
  MUST(tsl_grow((void **)&list, 0, 100, &room, 1, "letters"));
  assert_int_equal(room, 100);
  before = list;
  MUST(tsl_grow((void **)&list, 60, 40, &room, 1, "letters"));
  assert_ptr_equal(list, before);
  MUST(tsl_grow((void **)&list, 100, 1, &room, 1, "letters"));
  assert_int_equal(room, 200);
  tsl_free(list);
}

static void grow_fails_and_keeps(void **state) {
  int64_t *list = NULL, room = 0;
  (void)state;
  MUST(tsl_grow((void **)&list, 0, 1, &room, sizeof *list, "numbers"));
  const int64_t had = room, *const was = list;
  assert_int_equal(tsl_grow((void **)&list, 1, INT64_MAX / 4, &room, sizeof *list, "numbers"),
                   TSL_ERR_MEMORY);
  assert_int_equal(room, had);
  assert_ptr_equal(list, was);
  tsl_free(list);
}

static void free_within_the_host(void **state) {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  (void)state;
  assert_true(tsl_memory_free() > 0);
  assert_true(tsl_memory_free() <= pages * page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grow_keeps_elements),
      cmocka_unit_test(grow_makes_room_for_many),
      cmocka_unit_test(grow_fails_and_keeps),
      cmocka_unit_test(free_within_the_host),
  };
  return cmocka_run_group_tests_name("unit.memory", tests, NULL, NULL);
}
