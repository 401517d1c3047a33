/* unit.deck: defaults, every type, the resolved text, overrides, hostile bytes, files. */
#include "deck_fixture.h"

/* ------------------------------------------------------------------ loads */

static void assert_path(const tsl_deck *deck, const char *file, const char *wanted) {
  char *path = NULL;
  MUST(tsl_deck_path(deck, file, &path));
  assert_string_equal(path, wanted);
  tsl_free(path);
}

static void defaults(void **state) {
  tsl_deck *deck = NULL;
  tri t = {0};
  (void)state;
  MUST(load(HEAD_TAIL, &t, &deck));
  assert_int_equal(t.function, 3);
  assert_int_equal(t.output, 0);
  assert_int_equal(t.k, 8);
  assert_int_equal(t.cap, (int64_t)2 << 30);
  assert_int_equal(t.seed, 0);
  assert_false(t.periodic);
  assert_true(t.check);
  assert_true(t.cutoff == 0.1);
  assert_null(t.note);
  assert_int_equal(t.box.n, 0);
  assert_int_equal(t.rows.n, 1);
  assert_int_equal(t.rows.values[0], 7);
  assert_int_equal(t.sides, 2);
  assert_string_equal(t.in.file, "a.csv");
  assert_string_equal(t.in.columns, "x: [1]");
  assert_int_equal(t.probes.n, 0);
  assert_string_equal(tsl_deck_title(deck), "");
  assert_path(deck, "a.csv", "./a.csv");
  assert_path(deck, "/a.csv", "/a.csv");
  assert_string_equal(tsl_deck_text(deck), HEAD_TAIL);
  tsl_deck_destroy(&deck);
}

static const char full[] = "title: 12\n"
                           "family: tri\n"
                           "tri:\n"
                           "  function: cosine\n"
                           "  output: on\n"
                           "  k: 1_0e1\n"
                           "  cap: \"1.5 GiB\"\n"
                           "  seed: -9223372036854775808\n"
                           "  periodic: Yes\n"
                           "  check: off\n"
                           "  cutoff: 1e-320\n"
                           "  note: \"a \\\"b\\\"\\n\\tc: # \\u00e9 \\u2028 \\x07\"\n"
                           "  box: [1, 2.5, 3e2]\n"
                           "  rows: 1_000_000\n"
                           "  sides: [right, \"top\"]\n"
                           "  marks: [k + 1, \"a, b\", 7]\n"
                           "  input: &in {file: 'it''s', columns: \"\", skip: 007}\n"
                           "  probes:\n"
                           "    - {at: 1, bins: []}\n"
                           "    - name: two\n"
                           "      at: -2\n";

static void check_full(const tri *t) {
  assert_int_equal(t->function, 2);
  assert_int_equal(t->output, 2);
  assert_int_equal(t->k, 100);
  assert_int_equal(t->cap, (int64_t)3 << 29);
  assert_true(t->seed == INT64_MIN);
  assert_true(t->periodic);
  assert_false(t->check);
  assert_true(t->cutoff == 1e-320);
  assert_string_equal(t->note, "a \"b\"\n\tc: # \xc3\xa9 \xe2\x80\xa8 \x07");
  assert_int_equal(t->box.n, 3);
  assert_true(t->box.values[0] == 1 && t->box.values[1] == 2.5 && t->box.values[2] == 300);
  assert_int_equal(t->rows.n, 1);
  assert_int_equal(t->rows.values[0], 1000000);
  assert_int_equal(t->sides, 5);
  assert_int_equal(t->marks.n, 3);
  assert_string_equal(t->marks.values[0], "k + 1");
  assert_string_equal(t->marks.values[1], "a, b");
  assert_string_equal(t->marks.values[2], "7");
  assert_string_equal(t->in.file, "it's");
  assert_string_equal(t->in.columns, "");
  assert_int_equal(t->in.skip, 7);
  assert_int_equal(t->probes.n, 2);
  const probe *p = t->probes.values;
  assert_null(p[0].name);
  assert_int_equal(p[0].bins.n, 0);
  assert_string_equal(p[1].name, "two");
  assert_true(p[1].at == -2);
  assert_int_equal(p[1].bins.n, 2);
  assert_int_equal(p[1].bins.values[1], 2);
}

static void every_type(void **state) {
  tsl_deck *deck = NULL;
  tri t = {0};
  (void)state;
  MUST(load(full, &t, &deck));
  check_full(&t);
  assert_string_equal(tsl_deck_title(deck), "12");
  tsl_deck_destroy(&deck);
}

static void resolved_reads_back(void **state) {
  tsl_deck *deck = NULL, *again = NULL;
  char *first = NULL, *second = NULL;
  tri t = {0};
  (void)state;
  MUST(load(full, &t, &deck));
  MUST(tsl_deck_resolved(deck, &first));
  tsl_deck_destroy(&deck);
  MUST(load(first, &t, &again));
  check_full(&t);
  MUST(tsl_deck_resolved(again, &second));
  assert_string_equal(first, second);
  assert_string_equal(tsl_deck_title(again), "12");
  free(first);
  free(second);
  tsl_deck_destroy(&again);
}

/** What has no default is not written, so reading back does not make it given. */
static void resolved_adds_nothing_empty(void **state) {
  tsl_deck *deck = NULL, *again = NULL;
  char *text = NULL;
  tri t = {0};
  (void)state;
  MUST(load(HEAD_TAIL, &t, &deck));
  MUST(tsl_deck_resolved(deck, &text));
  assert_string_equal(text, "family: \"tri\"\n"
                            "tri:\n"
                            "  function: \"gravity\"\n"
                            "  output: \"condensed\"\n"
                            "  k: 8\n"
                            "  cap: 2147483648\n"
                            "  periodic: false\n"
                            "  check: true\n"
                            "  cutoff: 0.1\n"
                            "  rows: [7]\n"
                            "  sides: [\"left\"]\n"
                            "  input:\n"
                            "    file: \"a.csv\"\n"
                            "    columns: \"x: [1]\"\n"
                            "    skip: 0\n");
  MUST(load(text, &t, &again));
  assert_false(tsl_deck_given(again, "tri.box"));
  assert_false(tsl_deck_given(again, "tri.probes"));
  free(text);
  tsl_deck_destroy(&deck);
  tsl_deck_destroy(&again);
}

/* -------------------------------------------------------------- overrides */

static void overrides(void **state) {
  static const char *const sets[] = {
      "tri.k=5",     "tri.k=6",          "tri.box=[1, 2]", "tri.note=a b",
      "title=\"7\"", "tri.input.skip=3", "tri.cap=10 MiB", "tri.input.columns='='"};
  tsl_deck *deck = NULL;
  tri t = {0};
  (void)state;
  MUST(load_sets(HEAD_TAIL, strlen(HEAD_TAIL), sets, 8, &t, &deck));
  assert_int_equal(t.k, 6);
  assert_int_equal(t.box.n, 2);
  assert_string_equal(t.note, "a b");
  assert_string_equal(t.in.file, "a.csv");
  assert_string_equal(t.in.columns, "=");
  assert_int_equal(t.in.skip, 3);
  assert_int_equal(t.cap, 10 << 20);
  assert_string_equal(tsl_deck_title(deck), "7");
  assert_true(tsl_deck_given(deck, "tri.k"));
  assert_true(tsl_deck_given(deck, "tri.input.file"));
  assert_false(tsl_deck_given(deck, "tri.input.bogus"));
  assert_false(tsl_deck_given(deck, "tri.cutoff"));
  assert_false(tsl_deck_given(deck, "tri.k.x"));
  tsl_deck_destroy(&deck);
}

static void overrides_make_sections(void **state) {
  static const char *const sets[] = {"family=tri", "tri.function=cosine", "tri.input.file=b"};
  tsl_deck *deck = NULL;
  tri t = {0};
  (void)state;
  MUST(load_sets("tri:\n", 5, sets, 3, &t, &deck));
  assert_int_equal(t.function, 2);
  assert_string_equal(t.in.file, "b");
  tsl_deck_destroy(&deck);
}

static void bad_overrides(void **state) {
  (void)state;
  refused_set(HEAD_TAIL, "tri.inptu.file=x",
              "--set tri.inptu.file=x: unknown key 'inptu' in 'tri'; did you mean 'input'? "
              "(allowed: function, output, k, cap, seed, periodic, check, cutoff, note, box, rows, "
              "sides, marks, input, probes)");
  refused_set(HEAD_TAIL, "tir.k=1",
              "--set tir.k=1: unknown section 'tir'; did you mean 'tri'? (allowed: family, title, "
              "run, output, tri)");
  refused_set(HEAD_TAIL, "tri.k=0", "--set tri.k=0: tri.k: 0 is outside 1 .. 1024");
  refused_set(HEAD_TAIL, "tri.k=", "--set tri.k=: tri.k: expected a whole number, got nothing");
  refused_set(HEAD_TAIL, "tri.k", "--set tri.k: expected KEY=VALUE, as in tri.bins=400");
  refused_set(HEAD_TAIL, "=1", "--set =1: a part of the key is empty");
  refused_set(HEAD_TAIL, "tri..k=1", "--set tri..k=1: a part of the key is empty");
  refused_set(HEAD_TAIL, "tri.=1", "--set tri.=1: a part of the key is empty");
  refused_set(HEAD_TAIL, "family.x=1", "--set family.x=1: 'family' is a value, not a section");
  refused_set(HEAD_TAIL, "tri.box=[1",
              "--set tri.box=[1: bad value: did not find expected ',' or ']'");
  refused_set(HEAD_TAIL, "tri.note=@x",
              "--set tri.note=@x: bad value: found character that cannot start any token");
  refused_set(HEAD_TAIL, "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r=1",
              "--set a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r=1: nested deeper than 16");
}

static tsl_err complain(const tsl_deck *deck, const char *path) {
  tsl_err err = TSL_OK;
  TSL_DECK_FAIL(deck, path, "does not fit %d", 3);
done:
  return err;
}

static void fail_has_place(void **state) {
  static const char *const sets[] = {"tri.k=5"};
  tsl_deck *deck = NULL;
  tri t = {0};
  (void)state;
  MUST(load_sets(HEAD_TAIL, strlen(HEAD_TAIL), sets, 1, &t, &deck));
  assert_int_equal(complain(deck, "tri.input.file"), TSL_ERR_INPUT);
  assert_string_equal(tsl_err_message(), "d.yaml:4: tri.input.file: does not fit 3");
  (void)complain(deck, "tri.box");
  assert_string_equal(tsl_err_message(), "d.yaml:2: tri.box: does not fit 3");
  (void)complain(deck, "tri.k");
  assert_string_equal(tsl_err_message(), "--set tri.k=5: tri.k: does not fit 3");
  (void)complain(deck, "run.x");
  assert_string_equal(tsl_err_message(), "d.yaml:1: run.x: does not fit 3");
  tsl_deck_destroy(&deck);
}

/* -------------------------------------------------- a word or a map */

typedef struct shape {
  int32_t name;
  double width;
} shape;
typedef struct section {
  int64_t k;
  shape shape;
} section;

static const char *const shapes[] = {"ball", "cube", NULL};
static const tsl_key shape_keys[] = {
    TSL_CHOICE_KEY("name", offsetof(shape, name), "cube", shapes, "its name"),
    TSL_REAL_KEY("width", offsetof(shape, width), "2", 0, 9, "width, m"),
    {0}};
static const tsl_key section_keys[] = {TSL_INT_KEY("k", offsetof(section, k), "1", 0, 0, "k"),
                                       {"shape", TSL_KEY_MAP, offsetof(section, shape), NULL, 0, 0,
                                        shapes, shape_keys, sizeof(shape), "shape"},
                                       {0}};

/** Bind "s:" and what follows; a message, or NULL: name, width and k are these. */
static void shape_is(const char *text, const char *message, int32_t name, double width, int64_t k) {
  tsl_deck *deck = NULL;
  section s = {0};
  MUST(tsl_deck_parse(text, strlen(text), "d.yaml", NULL, 0, &deck));
  (void)tsl_deck_fold(deck, "s", "shape", "cube");
  const tsl_err err = tsl_deck_bind(deck, "s", section_keys, sizeof s, &s);
  assert_int_equal(err, message == NULL ? TSL_OK : TSL_ERR_INPUT);
  if (message != NULL) {
    assert_string_equal(tsl_err_message(), message);
  } else {
    assert_int_equal(s.shape.name, name);
    assert_true(s.shape.width == width);
    assert_int_equal(s.k, k);
  }
  tsl_deck_destroy(&deck);
}

static void word_or_map(void **state) {
  (void)state;
  shape_is("s:\n  shape: ball\n", NULL, 0, 2, 1);
  shape_is("s:\n  shape: {name: ball, width: 3}\n  k: 4\n", NULL, 0, 3, 4);
  shape_is("s:\n  shape: {width: 3}\n", NULL, 1, 3, 1);
  shape_is("s:\n  shape: bal\n",
           "d.yaml:2: s.shape: unknown word 'bal'; did you mean 'ball'? (allowed: ball, cube)", 0,
           0, 0);
  shape_is("s:\n  shape: [ball]\n", "d.yaml:2: s.shape: expected a word or a map, got a list", 0, 0,
           0);
  shape_is("s:\n  shape:\n", "d.yaml:2: s.shape: expected a word or a map, got nothing", 0, 0, 0);
  shape_is("s:\n  shape: {width: 10}\n", "d.yaml:2: s.shape.width: 10 is outside 0 .. 9", 0, 0, 0);
  shape_is("s:\n  k: 4\n", "d.yaml:1: missing key 'shape' in 's' (shape)", 0, 0, 0);
}

/** The map beside the key is the key's, wherever it stands. */
static void folded(void **state) {
  (void)state;
  shape_is("s:\n  cube: {width: 3}\n  shape: cube\n  k: 4\n", NULL, 1, 3, 4);
  shape_is("s:\n  shape: cube\n  k: 4\n  cube: {width: 3}\n", NULL, 1, 3, 4);
  shape_is("s:\n  shape: cube\n  cube:\n    width: 3\n  k: 4\n", NULL, 1, 3, 4);
  shape_is("s:\n  shape: cube\n  cube:\n    width: 10\n",
           "d.yaml:4: s.shape.width: 10 is outside 0 .. 9", 0, 0, 0);
  shape_is("s:\n  shape: ball\n  cube: {width: 3}\n",
           "d.yaml:3: unknown key 'cube' in 's' (allowed: k, shape)", 0, 0, 0);
}

/* ------------------------------------------------------------ other input */

static void refused_part(const char *text, size_t n, const char *part) {
  tsl_deck *deck = NULL;
  tri t = {0};
  assert_int_equal(load_sets(text, n, NULL, 0, &t, &deck), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), part) == NULL)
    fail_msg("'%s' is not in '%s'", part, tsl_err_message());
  tsl_deck_destroy(&deck);
}

static void deep_nesting(void **state) {
  enum { N = 100000 };
  char *text = malloc(N);
  (void)state;
  assert_non_null(text);
  memset(text, '[', N);
  refused_part(text, N, "d.yaml:1:34: nested deeper than 32");
  for (int i = 0; i < N; i++) text[i] = i % 2 ? ':' : '{';
  refused_part(text, N, "d.yaml:");
  for (int i = 0; i < N; i++) text[i] = i % 2 ? ' ' : '-';
  refused_part(text, N, "nested deeper than 32");
  free(text);
}

static void alias_bomb(void **state) {
  char text[2048] = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  char deep[4096] = "b0: &b0 [x]\n";
  (void)state;
  for (int i = 1; i < 12; i++) {
    const size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used,
                   "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1, i - 1,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
  }
  refused_part(text, strlen(text), "more than 1000000 values");
  for (int i = 1; i < 40; i++) {
    const size_t used = strlen(deep);
    (void)snprintf(deep + used, sizeof deep - used, "b%d: &b%d [*b%d]\n", i, i, i - 1);
  }
  refused_part(deep, strlen(deep), "nested deeper than 32");
}

static void hostile_bytes(void **state) {
  static const char zeros[64];
  char keys[16384] = "", *number = malloc(70000);
  size_t used = 0;
  (void)state;
  assert_non_null(number);
  refused_part(zeros, sizeof zeros, "d.yaml:1:1: control characters are not allowed");
  refused_part("\x7f"
               "ELF\x02\x01\x01",
               7, "d.yaml:1:1: ");
  refused_part("\xff\xfe"
               "a\0:\0 \0b\0",
               10, "d.yaml:1:1: ");
  for (int i = 0; i < 1100; i++)
    used += (size_t)snprintf(keys + used, sizeof keys - used, "k%d: 1\n", i);
  refused_part(keys, used, "d.yaml:1025:1: more than 1024 keys in one map");
  used = (size_t)snprintf(number, 70000, HEAD "  k: ");
  memset(number + used, '9', 60000);
  refused_part(number, used + 60000, "tri.k: expected a whole number, got '99999");
  free(number);
}

static void refused_file(const char *path, const char *part) {
  tsl_deck *deck = NULL;
  assert_int_equal(tsl_deck_read(path, NULL, 0, &deck), TSL_ERR_INPUT);
  assert_null(deck);
  if (strstr(tsl_err_message(), part) == NULL)
    fail_msg("'%s' is not in '%s'", part, tsl_err_message());
}

static void files(void **state) {
  char folder[] = "/tmp/tsl_deck_XXXXXX", path[64];
  tsl_deck *deck = NULL;
  tri t = {0};
  (void)state;
  assert_non_null(mkdtemp(folder));
  refused_file(folder, ": not a regular file");
  (void)snprintf(path, sizeof path, "%s/d.yaml", folder);
  refused_file(path, "d.yaml: cannot be opened: No such file or directory");
  assert_int_equal(mkfifo(path, 0600), 0);
  refused_file(path, "d.yaml: not a regular file");
  assert_int_equal(unlink(path), 0);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  (void)fputs(HEAD_TAIL, file);
  assert_int_equal(fclose(file), 0);
  MUST(tsl_deck_read(path, NULL, 0, &deck));
  MUST(tsl_deck_bind(deck, "tri", tri_keys, sizeof t, &t));
  assert_string_equal(t.in.file, "a.csv");
  (void)snprintf(path, sizeof path, "%s/a.csv", folder);
  assert_path(deck, "a.csv", path);
  tsl_deck_destroy(&deck);
  (void)snprintf(path, sizeof path, "%s/d.yaml", folder);
  assert_int_equal(truncate(path, (16 << 20) + 1), 0);
  refused_file(path, "16777217 bytes; a deck has at most 16 MiB");
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);
}

/** A wrong table is found before anything is written through it. */
static void wrong_table(void **state) {
  static const tsl_key outside[] = {TSL_INT_KEY("k", 4, "1", 0, 0, "outside"), {0}};
  static const tsl_key standard[] = {TSL_INT_KEY("k", 0, "0", 1, 2, "bad default"), {0}};
  static const tsl_key none[] = {{0}};
  tsl_deck *deck = NULL;
  int64_t out = 5;
  (void)state;
  MUST(tsl_deck_parse("a: {}\n", 6, "d.yaml", NULL, 0, &deck));
  assert_int_equal(tsl_deck_bind(deck, "a", outside, sizeof out, &out), TSL_ERR_INTERNAL);
  assert_string_equal(tsl_err_message(), "table of 'a': key 'k' lies outside its struct");
  assert_int_equal(tsl_deck_bind(deck, "a", standard, sizeof out, &out), TSL_ERR_INTERNAL);
  assert_string_equal(tsl_err_message(), "the table's default of 'a.k' is bad: d.yaml:1: a.k: 0 is "
                                         "outside 1 .. 2");
  MUST(tsl_deck_bind(deck, "a", none, sizeof out, &out));
  assert_int_equal(out, 0);
  tsl_deck_destroy(&deck);
  tsl_deck_destroy(&deck);
}

static void nearest_word(void **state) {
  static const char *const words[] = {"function", "output", "k", NULL};
  (void)state;
  assert_string_equal(tsl_nearest_word("functon", words), "function");
  assert_string_equal(tsl_nearest_word("otuput", words), "output");
  assert_null(tsl_nearest_word("x", words));
  assert_null(tsl_nearest_word("", words));
  assert_null(tsl_nearest_word("something else", words));
}

#define T(name) cmocka_unit_test(name)

int main(void) {
  const struct CMUnitTest tests[] = {T(defaults),
                                     T(every_type),
                                     T(resolved_reads_back),
                                     T(resolved_adds_nothing_empty),
                                     T(overrides),
                                     T(overrides_make_sections),
                                     T(bad_overrides),
                                     T(fail_has_place),
                                     T(word_or_map),
                                     T(folded),
                                     T(deep_nesting),
                                     T(alias_bomb),
                                     T(hostile_bytes),
                                     T(files),
                                     T(wrong_table),
                                     T(nearest_word)};
  return cmocka_run_group_tests_name("unit.deck", tests, NULL, NULL);
}
