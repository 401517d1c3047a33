/* unit.xc.molecule: molecules from XYZ, JSON and tables of charges; what is refused and how. */
#include "xc_frames.h"
#include "xc_molecule.h"
#include "xc_near.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char water[] = "3\nwater\nO 0 0 0.1174\nH 0.757 0 -0.4696\nh -0.757 0 -0.4696\n";

/** The text reads as XYZ and passes the check. */
static void good(const char *text, int32_t charge, int32_t multiplicity, xc_molecule *molecule) {
  memset(molecule, 0, sizeof *molecule);
  if (xc_molecule_parse_xyz("m.xyz", text, (int64_t)strlen(text), molecule) != TSL_OK)
    fail_msg("%s", tsl_err_message());
  molecule->charge = charge, molecule->multiplicity = multiplicity;
  if (xc_molecule_finish("m.xyz", molecule) != TSL_OK) fail_msg("%s", tsl_err_message());
}

/** The text is refused, by the reader or by the check, and the message holds why. */
static void bad(const char *text, int32_t charge, int32_t multiplicity, const char *why) {
  xc_molecule molecule = {.charge = charge, .multiplicity = multiplicity};
  tsl_err err = xc_molecule_parse_xyz("m.xyz", text, (int64_t)strlen(text), &molecule);
  if (err == TSL_OK) err = xc_molecule_finish("m.xyz", &molecule);
  assert_int_equal(err, TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), why) == NULL)
    fail_msg("'%s' does not say '%s'", tsl_err_message(), why);
  xc_molecule_clear(&molecule);
}

static void xyz(void **state) {
  xc_molecule m;
  (void)state;
  good(water, 0, 0, &m);
  assert_int_equal(m.n_atoms, 3);
  assert_int_equal(m.atoms[0].z, 8);
  assert_int_equal(m.atoms[2].z, 1);
  near(m.atoms[1].at[0], 0.757 / 0.529177210903, 1e-15);
  assert_int_equal(m.multiplicity, 1);
  assert_int_equal(m.alpha, 5);
  assert_int_equal(m.beta, 5);
  near(xc_repulsion_nuclei(&m), XC_BOHR * (16 / sqrt(0.757 * 0.757 + 0.587 * 0.587) + 1 / 1.514),
       1e-12);
  xc_molecule_clear(&m);
  good("2\n\n8 0 0 0 spin\nO 0 0 1.2 -\n\n", 0, 3, &m);
  assert_int_equal(m.alpha, 9);
  assert_int_equal(m.beta, 7);
  near(xc_repulsion_nuclei(&m), 64 * XC_BOHR / 1.2, 1e-12);
  xc_molecule_clear(&m);
  good("1\n\nHe 0 0 0\n", 1, 0, &m);
  assert_int_equal(m.multiplicity, 2);
  xc_molecule_clear(&m);
}

static void ghosts(void **state) {
  static const char *const names[] = {"@O",  "Gh:o", "gh-O", "Gh(O)", "ghost-O",
                                      "X:O", "x-o",  "O:",   "O-Bq",  "GHOST:O"};
  xc_molecule m;
  (void)state;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char text[64];
    (void)snprintf(text, sizeof text, "2\n\n%s 0 0 0\nHe 0 0 1\n", names[k]);
    good(text, 0, 0, &m);
    assert_int_equal(m.atoms[0].z, 8);
    assert_int_equal(m.atoms[0].ghost, 1);
    assert_int_equal(m.atoms[1].ghost, 0);
    assert_int_equal(m.alpha + m.beta, 2);
    assert_true(xc_repulsion_nuclei(&m) == 0);
    xc_molecule_clear(&m);
  }
  bad("1\n\n@H 0 0 0\n", 0, 1, "leaves 0 electrons");
  bad("1\n\nGh(O 0 0 0\n", 0, 1, "unknown element");
  bad("1\n\nGh-U 0 0 0\n", 0, 1, "unknown element");
}

/* Frames of a text, chosen; or refused with these words. */
static void frames_of(const char *text, const char *which, int64_t n, const char *words) {
  xc_frames f;
  tsl_err err = xc_frames_parse("m.xyz", text, (int64_t)strlen(text), &f);
  if (err == TSL_OK) err = xc_frames_choose(which, &f);
  assert_int_equal(err, words == NULL ? TSL_OK : TSL_ERR_INPUT);
  if (words != NULL) assert_non_null(strstr(tsl_err_message(), words));
  if (words == NULL) assert_int_equal(f.n, n);
  for (int64_t k = 0; words == NULL && k < n; k++) /* x of the first atom is the frame's number */
    assert_true(fabs(f.atoms[k * f.n_atoms].at[0] * XC_BOHR - (double)f.number[k]) < 1e-12);
  xc_frames_clear(&f);
}

static void several_frames(void **state) {
  static const char text[] = "2\n\nO 1 0 0\nH 0 0 1\n2\n\nO 2 0 0\nH 0 0 1\n\n \n"
                             "2\nProperties=species:S:1:pos:R:3:f:R:1\nO 3 0 0 9\nH 0 0 1 9\n\n";
  (void)state;
  frames_of(text, "all", 3, NULL);
  frames_of(text, "1:3:2", 2, NULL);
  frames_of(text, "2:", 2, NULL);
  frames_of(text, ":1", 1, NULL);
  frames_of(text, ":", 3, NULL);
  frames_of(text, "1:3:9223372036854775807", 1, NULL);
  frames_of(text, "4:", 0, "frames 1 to 3");
  frames_of(text, "1:4", 0, "frames 1 to 3");
  frames_of(text, "0:1", 0, "frames 1 to 3");
  frames_of(text, "99999999999999999999:", 0, "frames 1 to 3");
  frames_of(text, "2", 0, "FIRST:LAST");
  frames_of(text, "1:2:3:", 0, "FIRST:LAST");
  frames_of(text, "1 :2", 0, "FIRST:LAST");
  frames_of("", "all", 0, "empty XYZ");
  frames_of("1\n\nO 1 0 0\n1\n\nN 1 0 0\n", "all", 0, "m.xyz:6: frame 2: atom 1 is N");
  frames_of("1\n\nO 1 0 0\n1\n\n", "all", 0, "m.xyz:5: frame 2: 1 atoms announced in line 4");
  frames_of("1\n\nO 1 0 0\n2\n\nO 1 0 0\nxxxxx", "all", 0, "m.xyz:7: frame 2: 1 words");
  frames_of("1\nproperties=\"pos:R:3\"\nO 1 0 0\n", "all", 0, "m.xyz:2: frame 1: Properties");
}

static void refusals(void **state) {
  (void)state;
  bad("", 0, 1, "empty XYZ");
  bad("x\n\nH 0 0 0\n", 0, 2, "m.xyz:1: 'x' where the number of atoms");
  bad("0\n\n", 0, 1, "1..65536");
  bad("9999\n\nH 0 0 0\n", 0, 2, "this short");
  bad("2\n\nH 0 0 0\n", 0, 2, "2 atoms announced in line 1, 1 found");
  bad("1\n\nH 0 0 0\nH 0 0 1\n", 0, 2, "m.xyz:4: more lines");
  bad("1\n\nH 0 0\n", 0, 2, "m.xyz:3: 3 words");
  bad("1\n\nXx 0 0 0\n", 0, 2, "m.xyz:3: unknown element 'Xx'");
  bad("1\n\nU 0 0 0\n", 0, 1, "unknown element 'U'");
  bad("1\n\n87 0 0 0\n", 0, 1, "1..86");
  bad("1\n\nH 0 nan 0\n", 0, 2, "'nan' is not a finite number");
  bad("1\n\nH 0 0 1e9\n", 0, 2, "bohr; at most");
  bad("2\n\nH 0 0 0\nH 0 0 0.05\n", 0, 1, "atom 1 and atom 2 (counted from 1) are 0.05 Angstrom");
  bad("3\n\nH 0 0 0\nO 5 0 0\nH 0 0.09 0\n", 0, 1, "atom 1 and atom 3");
  bad("1\n\nH 0 0 0\n", 0, 1, "multiplicity 1 does not fit 1 electrons");
  bad(water, 0, 2, "allowed are 1, 3, 5");
  bad(water, 0, 13, "multiplicity 13 does not fit 10");
  bad("1\n\nH 0 0 0\n", 1, 1, "leaves 0 electrons");
  bad(water, -200, 1, "charge -200");
}

/** Writes a table of charges and reads it. */
static tsl_err charges_of(const char *text, xc_molecule *m) {
  char path[] = "/tmp/tsl_charges_XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  (void)close(fd);
  const tsl_err err = xc_molecule_read_charges(path, m);
  (void)unlink(path);
  return err;
}

static void charges(void **state) {
  xc_molecule m;
  (void)state;
  good(water, 0, 1, &m);
  assert_int_equal(charges_of("# x y z q\n0 0 2 -0.5\n 1 0 3 0.5 \n", &m), TSL_OK);
  assert_int_equal(m.n_charges, 2);
  near(m.charges[1].at[2], 3 / XC_BOHR, 1e-14);
  near(m.charges[0].q, -0.5, 0);
  assert_int_equal(xc_molecule_finish("m", &m), TSL_OK);
  assert_true(xc_repulsion_charges(&m) < 0);
  assert_int_equal(charges_of("0 0 2 nan\n", &m), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "nan"));
  assert_int_equal(charges_of("0 0 2\n", &m), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "x y z q"));
  assert_int_equal(charges_of("0 0 0.12 1\n", &m), TSL_OK);
  assert_int_equal(xc_molecule_finish("m", &m), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "point charge 1"));
  assert_int_equal(charges_of("", &m), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "no numbers in this file"));
  assert_int_equal(charges_of("", &m), TSL_ERR_INPUT); /* would be the gas phase */
  assert_int_equal(charges_of("# x y z q\n", &m), TSL_ERR_INPUT);
  xc_molecule_clear(&m);
}

static tsl_err json(const char *text, xc_molecule *m, xc_model *model) {
  memset(m, 0, sizeof *m);
  return xc_molecule_parse_json("m.json", text, (int64_t)strlen(text), m, model);
}

static void json_good(void **state) {
  xc_molecule m;
  xc_model model;
  (void)state;
  assert_int_equal(json("{\"schema_name\": \"qcschema_input\", \"schema_version\": 1, \"driver\": "
                        "\"energy\", \"molecule\": {\"symbols\": [\"O\", \"H\"], \"geometry\": "
                        "[0, 0, 0, 0, 0.0, 1.8e0], \"molecular_charge\": -1.0, "
                        "\"real\": [true, true]}, \"model\": {\"method\": \"PBE\", \"basis\": "
                        "\"def2-SVP\"}, \"keywords\": {}}",
                        &m, &model),
                   TSL_OK);
  assert_int_equal(m.n_atoms, 2);
  assert_int_equal(m.charge, -1);
  assert_int_equal(m.multiplicity, 0);
  near(m.atoms[1].at[2], 1.8, 0);
  assert_string_equal(model.method, "PBE");
  assert_string_equal(model.basis, "def2-SVP");
  assert_string_equal(model.driver, "energy");
  assert_int_equal(xc_molecule_finish("m.json", &m), TSL_OK);
  xc_molecule_clear(&m);
  assert_int_equal(json("{\"symbols\": [\"he\"], \"geometry\": [1, 2, 3], "
                        "\"molecular_multiplicity\": 3}",
                        &m, &model),
                   TSL_OK);
  assert_int_equal(m.multiplicity, 3);
  assert_string_equal(model.basis, "");
  xc_molecule_clear(&m);
  assert_int_equal(
      json("{\"molecule\": {\"symbols\": [\"he\"], \"geometry\": [1, 2, 3]}, \"extras\": "
           "{\"tesela\": {\"point_charges\": [0, 0, 9, -0.5, 0, 0, -9, 0.25]}}}",
           &m, &model),
      TSL_OK);
  assert_int_equal(m.n_charges, 2);
  near(m.charges[1].at[2], -9, 0);
  near(m.charges[1].q, 0.25, 0);
  xc_molecule_clear(&m);
}

static void json_bad(void **state) {
  static const char *const cases[][2] = {
      {"", "m.json:1"},
      {"[1]", "not a JSON object"},
      {"{\"a\":1,\"a\":2}", "duplicate"},
      {"{}", "'symbols' is missing"},
      {"{\"extras\": {\"tesela\": {\"point_charges\": [1, 2, 3]}}}", "x y z q"},
      {"{\"extras\": {\"tesela\": {\"point_charges\": [1, 2, 3, null]}}}", "[3] is no number"},
      {"{\"extras\": {\"tesela\": {\"point_charges\": [1, 2, 3, 4]}}}", "'symbols' is missing"},
      {"{\"symbols\": 1}", "of another type"},
      {"{\"symbols\": []}", "1 to 65536"},
      {"{\"symbols\": [\"H\"]}", "'geometry' is missing"},
      {"{\"symbols\": [\"H\"], \"geometry\": [1, 2]}", "has 2 entries; 3 are needed"},
      {"{\"symbols\": [\"H\"], \"geometry\": [1, 2, \"3\"]}", "geometry[2] is no number"},
      {"{\"symbols\": [\"Q\"], \"geometry\": [1, 2, 3]}", "unknown element 'Q'"},
      {"{\"symbols\": [7], \"geometry\": [1, 2, 3]}", "symbols[0] is no text"},
      {"{\"symbols\": [\"H\"], \"geometry\": [1, 2, 3], \"real\": [0]}", "neither true nor false"},
      {"{\"symbols\": [\"H\"], \"geometry\": [1, 2, 3], \"molecular_charge\": 0.5}", "integer"},
      {"{\"molecule\": 3}", "'molecule' is no object"},
      {"{\"molecule\": {}, \"model\": {\"basis\": {}}}", "'basis' must be a text"},
  };
  xc_molecule m;
  xc_model model;
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    assert_int_equal(json(cases[k][0], &m, &model), TSL_ERR_INPUT);
    if (strstr(tsl_err_message(), cases[k][1]) == NULL)
      fail_msg("'%s' does not say '%s'", tsl_err_message(), cases[k][1]);
    assert_null(m.atoms);
  }
}

static void deep_json(void **state) {
  char *text = calloc(1, 200001);
  xc_molecule m;
  xc_model model;
  (void)state;
  memset(text, '[', 200000);
  assert_int_equal(json(text, &m, &model), TSL_ERR_INPUT);
  free(text);
}

static void elements(void **state) {
  (void)state;
  for (int z = 1; z <= XC_MAX_Z; z++) assert_int_equal(xc_element(xc_symbol(z)), z);
  assert_int_equal(xc_element("FE"), 26);
  assert_int_equal(xc_element("xe"), 54);
  assert_int_equal(xc_element("?"), 0);
  assert_int_equal(xc_element(""), 0);
  assert_string_equal(xc_symbol(86), "Rn");
  assert_string_equal(xc_symbol(87), "?");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(xyz),      cmocka_unit_test(ghosts),    cmocka_unit_test(several_frames),
      cmocka_unit_test(refusals), cmocka_unit_test(charges),   cmocka_unit_test(json_good),
      cmocka_unit_test(json_bad), cmocka_unit_test(deep_json), cmocka_unit_test(elements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
