/* Section `xc.cube:` - which cubes, of how many points, into which files. */
#include "xc_cubes.h"
#include "xc_family.h"
#include "xc_potential.h"

#include "parallel.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define AT(member) offsetof(xc_cube_deck, member)

const tsl_key xc_cube_keys[] = {
    TSL_TEXT_KEY("density", AT(files[XC_CUBE_DENSITY]), "",
                 "The electrons' density is written to this file, .cube."),
    TSL_TEXT_KEY("spin", AT(files[XC_CUBE_SPIN]), "", "Likewise alpha's density less beta's."),
    TSL_TEXT_KEY("potential", AT(files[XC_CUBE_POTENTIAL]), "",
                 "Likewise the electrostatic potential, of point charges too; takes much longer."),
    TSL_TEXT_KEY("orbitals", AT(orbitals), "",
                 "Orbitals: numbers from 1, homo, lumo, homo-1, lumo+2, of alpha or with beta: "
                 "before them, as in 'homo lumo 12 beta:homo'."),
    TSL_TEXT_KEY("orbital_files", AT(orbital_files), "",
                 "Their files, .cube, with a * where the orbital's name goes: mo_*.cube makes "
                 "mo_homo.cube, mo_beta_homo.cube."),
    TSL_REAL_KEY("spacing", AT(spacing), "0.2", 1e-3, 100,
                 "Points are so far from each other, bohr; at most six digits behind the point."),
    TSL_REAL_KEY("margin", AT(margin), "4", 0, 1000,
                 "The box ends so far from the outermost nuclei, bohr."),
    {0}};

static const char *const kind_keys[XC_N_CUBE_KINDS] = {
    "xc.cube.density", "xc.cube.spin", "xc.cube.potential", "xc.cube.orbital_files"};

const char *xc_cube_key(const xc_cube *cube) {
  return kind_keys[cube->kind];
}

void xc_cubes_clear(xc_cubes *cubes) {
  for (int64_t k = 0; k < cubes->lattice.n; k++) {
    (void)tsl_new_file_close(&cubes->files[k], TSL_ERR_STOPPED);
    tsl_free(cubes->names[k]);
  }
  cubes->lattice.n = 0;
}

/* ---------------------------------------------------------------- orbitals */

/* How many levels lie beyond homo or lumo: "", "+2", "-1". */
static bool read_shift(const char *text, int64_t *shift) {
  char *end = NULL;
  *shift = 0;
  if (*text == '\0') return true;
  if ((*text != '+' && *text != '-') || !isdigit((unsigned char)text[1])) return false;
  *shift = strtoll(text, &end, 10);
  return *end == '\0' && llabs(*shift) <= INT32_MAX;
}

/* The orbital of a word; its number from 0. @return false: it is none */
static bool read_orbital(const char *word, const xc_molecule *m, xc_cube *cube) {
  const int64_t electrons[2] = {m->alpha, m->beta};
  char *end = NULL;
  *cube = (xc_cube){.kind = XC_CUBE_ORBITAL};
  if (strncmp(word, "alpha:", 6) == 0) word += 6;
  if (strncmp(word, "beta:", 5) == 0) word += 5, cube->spin = 1;
  if (strncmp(word, "homo", 4) == 0 || strncmp(word, "lumo", 4) == 0) {
    int64_t shift = 0;
    if (!read_shift(word + 4, &shift)) return false;
    cube->orbital = electrons[cube->spin] - (word[0] == 'h') + shift;
    return true;
  }
  if (!isdigit((unsigned char)*word)) return false;
  cube->orbital = strtoll(word, &end, 10) - 1;
  return *end == '\0';
}

/* The pattern with the word for its '*', ':' of it as '_'. */
static tsl_err orbital_file(const char *pattern, const char *word, char **file) {
  tsl_err err = TSL_OK;
  const char *star = strchr(pattern, '*');
  const size_t before = (size_t)(star - pattern), room = strlen(pattern) + strlen(word) + 1;
  TSL_TRY(tsl_alloc((int64_t)room, 1, "file name", (void **)file));
  (void)snprintf(*file, room, "%.*s%s%s", (int)before, pattern, word, star + 1);
  for (char *c = *file + before; c < *file + before + strlen(word); c++)
    if (*c == ':') *c = '_';
done:
  return err;
}

static tsl_err add_orbital(const tsl_deck *deck, const xc_cube_deck *s, const char *word,
                           const xc_molecule *m, const xc_basis *basis, int32_t n_spin,
                           xc_cubes *out) {
  static const char *const key = "xc.cube.orbitals";
  tsl_err err = TSL_OK;
  xc_cube cube;
  if (!read_orbital(word, m, &cube))
    TSL_DECK_FAIL(deck, key,
                  "'%s' is no orbital; it takes a number from 1, homo, lumo, homo-1 or lumo+1, "
                  "perhaps behind alpha: or beta:",
                  word);
  if (cube.spin == 1 && n_spin == 1)
    TSL_DECK_FAIL(deck, key,
                  "'%s': orbitals of this run are the same for both spins; remove beta:", word);
  if (cube.orbital < 0 || cube.orbital >= basis->n)
    TSL_DECK_FAIL(deck, key, "'%s' would be orbital %lld; there are 1..%lld", word,
                  (long long)cube.orbital + 1, (long long)basis->n);
  if (out->lattice.n == XC_MOST_CUBES)
    TSL_DECK_FAIL(deck, key, "names too many orbitals; %d may be written at a time",
                  XC_CUBE_ORBITALS);
  TSL_TRY(orbital_file(s->orbital_files, word, &out->names[out->lattice.n]));
  out->lattice.cubes[out->lattice.n++] = cube;
done:
  return err;
}

static tsl_err add_orbitals(const tsl_deck *deck, const xc_cube_deck *s, const xc_molecule *m,
                            const xc_basis *basis, int32_t n_spin, xc_cubes *out) {
  tsl_err err = TSL_OK;
  char *words = NULL, *rest = NULL;
  if (s->orbitals == NULL && s->orbital_files == NULL) goto done;
  if (s->orbital_files == NULL)
    TSL_DECK_FAIL(deck, "xc.cube.orbitals", "needs xc.cube.orbital_files, such as mo_*.cube");
  if (s->orbitals == NULL)
    TSL_DECK_FAIL(deck, "xc.cube.orbital_files", "needs xc.cube.orbitals, such as 'homo lumo'");
  const char *star = strchr(s->orbital_files, '*');
  if (star == NULL || strchr(star + 1, '*') != NULL)
    TSL_DECK_FAIL(deck, "xc.cube.orbital_files",
                  "'%s' needs one * where the orbital's name goes, as in mo_*.cube",
                  s->orbital_files);
  const size_t bytes = strlen(s->orbitals) + 1;
  TSL_TRY(tsl_alloc((int64_t)bytes, 1, "orbitals of cubes", (void **)&words));
  memcpy(words, s->orbitals, bytes);
  for (char *word = strtok_r(words, " \t\n,;", &rest); word != NULL;
       word = strtok_r(NULL, " \t\n,;", &rest))
    TSL_TRY(add_orbital(deck, s, word, m, basis, n_spin, out));
done:
  tsl_free(words);
  return err;
}

/* -------------------------------------------------------------------- box */

/* Bytes of text. */
static const double PER_POINT = 13.2;

static double cube_bytes(const xc_lattice *c) {
  return PER_POINT * (double)c->points[0] * (double)c->points[1] * (double)c->points[2];
}

static void set_box(const xc_cube_deck *s, const xc_molecule *m, xc_lattice *out) {
  static const double digits = 1e6; /* of numbers in the files */
  out->step = rint(digits * s->spacing) / digits;
  for (int k = 0; k < 3; k++) {
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t a = 0; a < m->n_atoms; a++) {
      lo = fmin(lo, m->atoms[a].at[k]);
      hi = fmax(hi, m->atoms[a].at[k]);
    }
    const double steps = ceil((hi - lo + 2 * s->margin) / out->step - 1e-9);
    out->origin[k] = rint(digits * (lo - s->margin)) / digits;
    out->points[k] = 1 + (int64_t)fmin(steps, 1e12);
  }
}

static tsl_err check_points(const tsl_deck *deck, const xc_lattice *c) {
  tsl_err err = TSL_OK;
  char bytes[24], memory[24];
  const double plane = (double)c->points[1] * (double)c->points[2];
  const double all = plane * (double)c->points[0];
  if (all <= XC_CUBE_POINTS && (double)c->n * plane <= XC_CUBE_PLANE) goto done;
  TSL_DECK_FAIL(deck, "xc.cube.spacing",
                "%g bohr makes %lld x %lld x %lld points: %s on disk for each cube of %d, %s of "
                "memory; at most %d points a cube and %d of all cubes in a plane are written; take "
                "a larger spacing or a smaller margin",
                c->step, (long long)c->points[0], (long long)c->points[1], (long long)c->points[2],
                tsl_bytes_text(cube_bytes(c), bytes), (int)c->n,
                tsl_bytes_text(PER_POINT * (double)c->n * plane, memory), XC_CUBE_POINTS,
                XC_CUBE_PLANE);
done:
  return err;
}

/* The folder of a file. */
static void folder_of(const char *file, char folder[XC_FOLDER]) {
  (void)snprintf(folder, XC_FOLDER, "%s", file);
  char *slash = strrchr(folder, '/');
  if (slash == NULL)
    (void)snprintf(folder, XC_FOLDER, ".");
  else
    slash[slash == folder] = '\0';
}

/* Is there room on disk for the cubes that go where cube k goes? */
static tsl_err check_disk(const tsl_deck *deck, const xc_cubes *c, int64_t k) {
  tsl_err err = TSL_OK;
  const xc_lattice *l = &c->lattice;
  char folder[XC_FOLDER], needs[24], has[24];
  struct statvfs disk;
  struct stat here, there;
  int n = 0;
  folder_of(c->names[k], folder);
  if (statvfs(folder, &disk) != 0 || stat(folder, &here) != 0) goto done;
  for (int64_t i = 0; i < l->n; i++) {
    folder_of(c->names[i], folder);
    n += stat(folder, &there) == 0 && there.st_dev == here.st_dev;
  }
  const double room = (double)disk.f_bavail * (double)disk.f_frsize;
  if (n * cube_bytes(l) > room)
    TSL_DECK_FAIL(deck, xc_cube_key(&l->cubes[k]),
                  "%d cubes of %lld x %lld x %lld points take %s of disk, and %s are free; take a "
                  "larger xc.cube.spacing",
                  n, (long long)l->points[0], (long long)l->points[1], (long long)l->points[2],
                  tsl_bytes_text(n * cube_bytes(l), needs), tsl_bytes_text(room, has));
done:
  return err;
}

/* -------------------------------------------------------------------- plan */

static tsl_err add_files(const xc_cube_deck *s, xc_cubes *out) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < XC_CUBE_ORBITAL; f++) {
    if (s->files[f] == NULL) continue;
    const size_t bytes = strlen(s->files[f]) + 1;
    char **name = &out->names[out->lattice.n];
    TSL_TRY(tsl_alloc((int64_t)bytes, 1, "file name", (void **)name));
    memcpy(*name, s->files[f], bytes);
    out->lattice.cubes[out->lattice.n++] = (xc_cube){.kind = f};
  }
done:
  return err;
}

/* Seconds of a core that the potential takes. */
static double predicted_seconds(const xc_lattice *c) {
  return XC_CUBE_PAIR_SECONDS * (double)c->pairs * (double)c->points[0] * (double)c->points[1] *
         (double)c->points[2];
}

/* The potential of a large molecule may take longer than its field. */
static void warn_of_time(const tsl_problem *problem, const xc_lattice *c) {
  static const double long_time = 600;
  int threads = 0; /* of sockets; those of cards' hosts are known of this one alone */
  for (int r = 0; r < problem->n_devices; r++) threads += problem->devices[r].threads;
  if (threads < tsl_parallel_slots()) threads = tsl_parallel_slots();
  const double seconds = predicted_seconds(c) / threads;
  if (seconds > long_time)
    fprintf(stderr,
            "tesela: warning: xc.cube.potential takes about %.2g s on %d thread%s once the field "
            "has converged; a larger xc.cube.spacing makes it shorter\n",
            seconds, threads, threads == 1 ? "" : "s");
}

tsl_err xc_cubes_plan(const tsl_deck *deck, const xc_cube_deck *s, const tsl_problem *problem,
                      const xc_molecule *molecule, const xc_basis *basis, int32_t n_spin,
                      xc_cubes *out) {
  static const char *const of_box[] = {"xc.cube.spacing", "xc.cube.margin"};
  tsl_err err = TSL_OK;
  xc_lattice *l = &out->lattice;
  *out = (xc_cubes){.electrons = -1};
  if (s->files[XC_CUBE_SPIN] != NULL && n_spin == 1)
    TSL_DECK_FAIL(deck, "xc.cube.spin",
                  "densities of this run are the same for both spins; remove it, or take "
                  "xc.reference: unrestricted");
  TSL_TRY(add_files(s, out));
  TSL_TRY(add_orbitals(deck, s, molecule, basis, n_spin, out));
  for (int k = 0; k < 2 && l->n == 0; k++)
    if (tsl_deck_given(deck, of_box[k]))
      TSL_DECK_FAIL(deck, of_box[k], "no cube is to be written; remove it");
  if (l->n == 0) goto done;
  set_box(s, molecule, l);
  TSL_TRY(check_points(deck, l));
  xc_lattice_cut(l);
  for (int64_t k = 0; k < l->n; k++) {
    TSL_TRY(xc_files_check_one(deck, xc_cube_key(&l->cubes[k]), ".cube", "tesela", out->names[k]));
    TSL_TRY(check_disk(deck, out, k));
  }
  if (xc_lattice_has(l, XC_CUBE_POTENTIAL)) l->pairs = xc_potential_pairs(basis);
  warn_of_time(problem, l);
done:
  return err;
}

tsl_err xc_cubes_check(const tsl_deck *deck, const xc_cubes *cubes, int64_t m) {
  tsl_err err = TSL_OK;
  const xc_lattice *l = &cubes->lattice;
  for (int64_t k = 0; k < l->n; k++)
    if (l->cubes[k].kind == XC_CUBE_ORBITAL && l->cubes[k].orbital >= m)
      TSL_DECK_FAIL(deck, "xc.cube.orbitals",
                    "there is no orbital %lld; the functions make %lld independent ones",
                    (long long)l->cubes[k].orbital + 1, (long long)m);
done:
  return err;
}

void xc_cubes_text(const xc_cubes *cubes, char *text, size_t size) {
  const xc_lattice *l = &cubes->lattice;
  char bytes[24];
  text[0] = '\0';
  if (l->n == 0) return;
  const int used =
      snprintf(text, size, "%d cube file%s of %lld x %lld x %lld points, %s each", (int)l->n,
               l->n == 1 ? "" : "s", (long long)l->points[0], (long long)l->points[1],
               (long long)l->points[2], tsl_bytes_text(cube_bytes(l), bytes));
  if (l->pairs > 0 && used > 0 && (size_t)used < size)
    (void)snprintf(text + used, size - (size_t)used,
                   "; the potential: up to %lld pairs of primitives at each point, about %.2g s "
                   "of a core",
                   (long long)l->pairs, predicted_seconds(l));
}
