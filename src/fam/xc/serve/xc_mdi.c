/* Messages are looked at when they are whole; the table of commands says what each sends or
 * takes. */
#include "xc_mdi.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH = 256, HEAD = 4 * (int)sizeof(int32_t) };                /* bytes */
enum { TYPE_INT = 1, TYPE_DOUBLE = 2, TYPE_CHAR = 3, TYPE_INT32 = 9 }; /* of the library */
static const int32_t version[3] = {1, 4, 0};
static const char node[] = "@DEFAULT", program[] = "tesela";

/* ----------------------------------------------------------------- commands */

/* Sends what every engine sends, what is known, what is computed first; takes numbers that must be
 * the deck's or are not used, those that a result is of; does nothing; ends. */
typedef enum does { BUILT_IN, FACT, RESULT, TAKES, MOVES, GOES, ENDS } does;

/* Sizes of numbers: of the molecule, of the lattice, or as many as said. */
typedef enum of_what { OF_ATOMS, OF_LATTICE, OF_ITSELF } of_what;

typedef enum word {
  NODE,
  NAME,
  VERSION,
  N_NODES,
  NODES,
  N_COMMANDS,
  COMMANDS,
  N_CALLBACKS,
  CALLBACKS,
  N_ATOMS,
  ELEMENTS,
  COORDS,
  DIMENSIONS,
  CHARGE,
  MULTIPLICITY,
  ENERGY,
  PE,
  FORCES,
  CHARGES,
  LATTICE_FORCES,
  TAKE_N_ATOMS,
  TAKE_ELEMENTS,
  TAKE_COORDS,
  TAKE_CHARGE,
  TAKE_MULTIPLICITY,
  TAKE_N_LATTICE,
  TAKE_CLATTICE,
  TAKE_LATTICE,
  TAKE_CELL,
  TAKE_DISPL,
  GO,
  EXIT,
  N_WORDS
} word;

static const struct {
  const char *text;
  does does;
  int32_t type;
  of_what of;
  int32_t each;
} commands[N_WORDS] = {
    [NODE] = {"<@", FACT, TYPE_CHAR, OF_ITSELF, 0},
    [NAME] = {"<NAME", BUILT_IN, TYPE_CHAR, OF_ITSELF, 0},
    [VERSION] = {"<VERSION", BUILT_IN, TYPE_INT, OF_ITSELF, 3},
    [N_NODES] = {"<NNODES", BUILT_IN, TYPE_INT, OF_ITSELF, 1},
    [NODES] = {"<NODES", BUILT_IN, TYPE_CHAR, OF_ITSELF, 0},
    [N_COMMANDS] = {"<NCOMMANDS", BUILT_IN, TYPE_INT, OF_ITSELF, 1},
    [COMMANDS] = {"<COMMANDS", BUILT_IN, TYPE_CHAR, OF_ITSELF, 0},
    [N_CALLBACKS] = {"<NCALLBACKS", BUILT_IN, TYPE_INT, OF_ITSELF, 1},
    [CALLBACKS] = {"<CALLBACKS", BUILT_IN, TYPE_CHAR, OF_ITSELF, 0},
    [N_ATOMS] = {"<NATOMS", FACT, TYPE_INT, OF_ITSELF, 1},
    [ELEMENTS] = {"<ELEMENTS", FACT, TYPE_INT, OF_ATOMS, 1},
    [COORDS] = {"<COORDS", FACT, TYPE_DOUBLE, OF_ATOMS, 3},
    [DIMENSIONS] = {"<DIMENSIONS", FACT, TYPE_INT, OF_ITSELF, 3},
    [CHARGE] = {"<TOTCHARGE", FACT, TYPE_DOUBLE, OF_ITSELF, 1},
    [MULTIPLICITY] = {"<ELEC_MULT", FACT, TYPE_INT, OF_ITSELF, 1},
    [ENERGY] = {"<ENERGY", RESULT, TYPE_DOUBLE, OF_ITSELF, 1},
    [PE] = {"<PE", RESULT, TYPE_DOUBLE, OF_ITSELF, 1},
    [FORCES] = {"<FORCES", RESULT, TYPE_DOUBLE, OF_ATOMS, 3},
    [CHARGES] = {"<CHARGES", RESULT, TYPE_DOUBLE, OF_ATOMS, 1},
    [LATTICE_FORCES] = {"<LATTICE_FORCES", RESULT, TYPE_DOUBLE, OF_LATTICE, 3},
    [TAKE_N_ATOMS] = {">NATOMS", TAKES, TYPE_INT, OF_ITSELF, 1},
    [TAKE_ELEMENTS] = {">ELEMENTS", TAKES, TYPE_INT, OF_ATOMS, 1},
    [TAKE_COORDS] = {">COORDS", MOVES, TYPE_DOUBLE, OF_ATOMS, 3},
    [TAKE_CHARGE] = {">TOTCHARGE", TAKES, TYPE_DOUBLE, OF_ITSELF, 1},
    [TAKE_MULTIPLICITY] = {">ELEC_MULT", TAKES, TYPE_INT, OF_ITSELF, 1},
    [TAKE_N_LATTICE] = {">NLATTICE", MOVES, TYPE_INT, OF_ITSELF, 1},
    [TAKE_CLATTICE] = {">CLATTICE", MOVES, TYPE_DOUBLE, OF_LATTICE, 3},
    [TAKE_LATTICE] = {">LATTICE", MOVES, TYPE_DOUBLE, OF_LATTICE, 1},
    [TAKE_CELL] = {">CELL", TAKES, TYPE_DOUBLE, OF_ITSELF, 9},
    [TAKE_DISPL] = {">CELL_DISPL", TAKES, TYPE_DOUBLE, OF_ITSELF, 3},
    [GO] = {"@DEFAULT", GOES, 0, OF_ITSELF, 0},
    [EXIT] = {"EXIT", ENDS, 0, OF_ITSELF, 0},
};

static int64_t count_of(const xc_mdi *m, int w) {
  const int64_t each = commands[w].each;
  if (commands[w].of == OF_ATOMS) return each * m->n_atoms;
  return commands[w].of == OF_LATTICE ? each * m->n_lattice : each;
}

static bool is_double(int w) {
  return commands[w].type == TYPE_DOUBLE;
}

/* ------------------------------------------------------------------ sending */

static tsl_err put_message(xc_mdi *m, int32_t type, int64_t count, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  const int32_t head[4] = {0, 0, type, (int32_t)count};
  TSL_TRY(xc_stream_put(m->stream, head, (int64_t)sizeof head));
  TSL_TRY(xc_stream_put(m->stream, bytes, n));
done:
  return err;
}

/* A text in a field of so many bytes. */
static void put_field(char *to, int64_t n, char fill, const char *text) {
  const size_t length = strlen(text);
  memset(to, fill, (size_t)n);
  memcpy(to, text, length < (size_t)n ? length : (size_t)n);
}

static tsl_err send_text(xc_mdi *m, const char *text, int64_t length) {
  char field[LENGTH];
  put_field(field, length, '\0', text);
  return put_message(m, TYPE_CHAR, length, field, length);
}

static bool is_listed(int w) {
  return commands[w].does != BUILT_IN;
}

static int32_t count_commands(void) {
  int32_t n = 0;
  for (int w = 0; w < N_WORDS; w++) n += is_listed(w);
  return n;
}

/* The node and its commands, each in a field with a comma, the last with a semicolon. */
static tsl_err send_list(xc_mdi *m, bool words, char last) {
  tsl_err err = TSL_OK;
  const int64_t stride = m->command_length + 1;
  const int64_t n = (1 + (words ? count_commands() : 0)) * stride;
  char *list = NULL, *to = NULL;
  TSL_TRY(tsl_alloc(n, 1, "list of commands", (void **)&list));
  to = list;
  put_field(to, stride - 1, ' ', node);
  to[stride - 1] = ',';
  for (int w = 0; words && w < N_WORDS; w++) {
    if (!is_listed(w)) continue;
    to += stride;
    put_field(to, stride - 1, ' ', commands[w].text);
    to[stride - 1] = ',';
  }
  to[stride - 1] = last;
  TSL_TRY(put_message(m, TYPE_CHAR, n, list, n));
done:
  tsl_free(list);
  return err;
}

static tsl_err send_doubles(xc_mdi *m, int w, const double *values) {
  const int64_t n = count_of(m, w);
  return put_message(m, TYPE_DOUBLE, n, values, n * (int64_t)sizeof *values);
}

static tsl_err send_ints(xc_mdi *m, int w, const int32_t *values) {
  const int64_t n = count_of(m, w);
  return put_message(m, TYPE_INT, n, values, n * (int64_t)sizeof *values);
}

static tsl_err send_result(xc_mdi *m, int w) {
  const double *const values[N_WORDS] = {[ENERGY] = &m->energy,
                                         [PE] = &m->energy,
                                         [FORCES] = m->forces,
                                         [CHARGES] = m->charges,
                                         [LATTICE_FORCES] = m->lattice_forces};
  return send_doubles(m, w, values[w]);
}

static tsl_err send_fact(xc_mdi *m, int w) {
  static const int32_t isolated[3] = {1, 1, 1}, one = 1, none = 0;
  const int32_t listed = count_commands(), atoms = (int32_t)m->n_atoms;
  const int32_t *const ints[N_WORDS] = {[VERSION] = version,
                                        [N_NODES] = &one,
                                        [N_COMMANDS] = &listed,
                                        [N_CALLBACKS] = &none,
                                        [N_ATOMS] = &atoms,
                                        [ELEMENTS] = m->elements,
                                        [MULTIPLICITY] = &m->multiplicity,
                                        [DIMENSIONS] = isolated};
  const double *const doubles[N_WORDS] = {[COORDS] = m->places, [CHARGE] = &m->charge};
  if (ints[w] != NULL) return send_ints(m, w, ints[w]);
  if (doubles[w] != NULL) return send_doubles(m, w, doubles[w]);
  if (w == NAME) return send_text(m, program, m->name_length);
  if (w == NODE) return send_text(m, node, m->command_length);
  if (w == COMMANDS) return send_list(m, true, ';');
  return send_list(m, false, w == NODES ? ',' : ';');
}

tsl_err xc_mdi_answer(xc_mdi *m) {
  const int w = m->waiting;
  m->answered = true;
  m->waiting = -1;
  return w >= 0 ? send_result(m, w) : TSL_OK;
}

tsl_err xc_mdi_fail(xc_mdi *m) {
  const int w = m->waiting;
  const int32_t head[4] = {1, 0, TYPE_DOUBLE, w >= 0 ? (int32_t)count_of(m, w) : 0};
  m->waiting = -1;
  return w >= 0 ? xc_stream_put(m->stream, head, (int64_t)sizeof head) : TSL_OK;
}

/* ------------------------------------------------------------------- taking */

static tsl_err check_finite(const xc_mdi *m, int w, const double *values) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < count_of(m, w); k++)
    if (!isfinite(values[k]))
      TSL_FAIL(TSL_ERR_INPUT, "%s: %s: number %lld is %g", m->stream->name, commands[w].text,
               (long long)k + 1, values[k]);
done:
  return err;
}

/* As many charges, at the origin and of none until they are told. */
static tsl_err take_lattice(xc_mdi *m, int32_t n) {
  tsl_err err = TSL_OK;
  if (n < 0 || n > XC_MDI_LATTICE_MOST)
    TSL_FAIL(TSL_ERR_INPUT, "%s: >NLATTICE of %d", m->stream->name, n);
  TSL_FREE_ALL(m->lattice_places, m->lattice_charges, m->lattice_forces);
  m->lattice_places = m->lattice_charges = m->lattice_forces = NULL;
  m->n_lattice = 0;
  TSL_TRY(tsl_alloc(3 * (int64_t)n, sizeof(double), "lattice", (void **)&m->lattice_places));
  TSL_TRY(tsl_alloc(n, sizeof(double), "lattice", (void **)&m->lattice_charges));
  TSL_TRY(tsl_alloc(3 * (int64_t)n, sizeof(double), "lattice", (void **)&m->lattice_forces));
  m->n_lattice = n;
done:
  return err;
}

/* The molecule is the deck's. */
static tsl_err take_ints(xc_mdi *m, int w, const int32_t *values) {
  tsl_err err = TSL_OK;
  if (w == TAKE_N_LATTICE) return take_lattice(m, values[0]);
  const int32_t atoms = (int32_t)m->n_atoms;
  const int32_t *mine = w == TAKE_ELEMENTS  ? m->elements
                        : w == TAKE_N_ATOMS ? &atoms
                                            : &m->multiplicity;
  for (int64_t k = 0; k < count_of(m, w); k++)
    if (values[k] != mine[k])
      TSL_FAIL(TSL_ERR_INPUT, "%s: %s: number %lld is %d; the deck has %d", m->stream->name,
               commands[w].text, (long long)k + 1, values[k], mine[k]);
done:
  return err;
}

static tsl_err take_doubles(xc_mdi *m, int w, const double *values) {
  tsl_err err = TSL_OK;
  double *const to[N_WORDS] = {[TAKE_COORDS] = m->places,
                               [TAKE_CLATTICE] = m->lattice_places,
                               [TAKE_LATTICE] = m->lattice_charges};
  TSL_TRY(check_finite(m, w, values));
  if (w == TAKE_CHARGE && values[0] != m->charge)
    TSL_FAIL(TSL_ERR_INPUT, "%s: >TOTCHARGE of %g; the deck has %g", m->stream->name, values[0],
             m->charge);
  if (to[w] != NULL) memcpy(to[w], values, (size_t)count_of(m, w) * sizeof *values);
  if ((w == TAKE_CELL || w == TAKE_DISPL) && !m->cell_told) {
    fprintf(stderr, "tesela: %s: %s is not used: the molecule stands alone\n", m->stream->name,
            commands[w].text);
    m->cell_told = true;
  }
done:
  return err;
}

/* ---------------------------------------------------------------- messages */

/* A message of this type and count. @param[out] data  NULL: not whole yet */
static tsl_err peek_message(const xc_mdi *m, const char *what, int32_t type, int64_t count,
                            int64_t size, const char **data) {
  tsl_err err = TSL_OK;
  int32_t head[4];
  const char *at = xc_stream_peek(m->stream, HEAD);
  *data = NULL;
  if (at == NULL) goto done;
  memcpy(head, at, sizeof head);
  const bool same = head[2] == type || (type == TYPE_INT && head[2] == TYPE_INT32);
  if (head[0] != 0 || head[1] != 0 || !same || head[3] != count)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: %s: a message with error %d, kind %d, type %d and count %d, where 0, 0, %d and "
             "%lld are expected",
             m->stream->name, what, head[0], head[1], head[2], head[3], type, (long long)count);
  at = xc_stream_peek(m->stream, HEAD + count * size);
  if (at != NULL) *data = at + HEAD;
done:
  return err;
}

static tsl_err take_data(xc_mdi *m, bool *whole) {
  tsl_err err = TSL_OK;
  const int w = m->data_of;
  const int64_t n = count_of(m, w), size = is_double(w) ? 8 : 4;
  const char *data = NULL;
  double *doubles = NULL;
  TSL_TRY(peek_message(m, commands[w].text, commands[w].type, n, size, &data));
  *whole = data != NULL;
  if (data == NULL) goto done;
  TSL_TRY(tsl_alloc(n, sizeof *doubles, "numbers of a command", (void **)&doubles)); /* aligned */
  memcpy(doubles, data, (size_t)(n * size));
  xc_stream_take(m->stream, HEAD + n * size);
  m->data_of = -1;
  m->answered = m->answered && commands[w].does != MOVES;
  TSL_TRY(is_double(w) ? take_doubles(m, w, doubles)
                       : take_ints(m, w, (const int32_t *)(const void *)doubles));
done:
  tsl_free(doubles);
  return err;
}

/* A command's number; other bytes as '?' in text. */
static int find_command(const char *data, int64_t n, char text[LENGTH + 1]) {
  int64_t length = 0;
  while (length < n && data[length] != '\0' && data[length] != ' ') length++;
  for (int64_t k = 0; k < length; k++) text[k] = data[k] > ' ' && data[k] <= '~' ? data[k] : '?';
  text[length] = '\0';
  for (int w = 0; w < N_WORDS; w++)
    if (strcmp(commands[w].text, text) == 0) return w;
  return -1;
}

static tsl_err obey(xc_mdi *m, int w, tsl_asked *asked) {
  switch (commands[w].does) {
  case BUILT_IN:
  case FACT:
    return send_fact(m, w);
  case RESULT:
    if (m->answered) return send_result(m, w);
    m->waiting = w;
    *asked = TSL_ASKED_PROBLEM;
    return TSL_OK;
  case TAKES:
  case MOVES:
    m->data_of = w;
    return TSL_OK;
  case ENDS:
    *asked = TSL_ASKED_END;
    return TSL_OK;
  default:
    return TSL_OK;
  }
}

static tsl_err take_command(xc_mdi *m, tsl_asked *asked, bool *whole) {
  tsl_err err = TSL_OK;
  char text[LENGTH + 1];
  const char *data = NULL;
  TSL_TRY(peek_message(m, "a command", TYPE_CHAR, m->command_length, 1, &data));
  *whole = data != NULL;
  if (data == NULL) goto done;
  const int w = find_command(data, m->command_length, text);
  xc_stream_take(m->stream, HEAD + m->command_length);
  if (w < 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: '%s' is no command that is computed here", m->stream->name, text);
  TSL_TRY(obey(m, w, asked));
done:
  return err;
}

/* ---------------------------------------------------------------- beginning */

static int32_t shorter(int32_t theirs) {
  return theirs < LENGTH ? theirs : LENGTH;
}

/* Numbers of the greeting, once all are there. */
static bool take_numbers(xc_mdi *m, int32_t *numbers, int64_t bytes) {
  const char *at = xc_stream_peek(m->stream, bytes);
  if (at == NULL) return false;
  memcpy(numbers, at, (size_t)bytes);
  xc_stream_take(m->stream, bytes);
  return true;
}

static tsl_err take_version(xc_mdi *m, bool *whole) {
  static const int32_t lengths[2] = {LENGTH, LENGTH};
  tsl_err err = TSL_OK;
  int32_t theirs[3];
  *whole = take_numbers(m, theirs, (int64_t)sizeof theirs);
  if (!*whole) goto done;
  if (theirs[0] != 1 || theirs[1] < 4 || theirs[1] > 1000)
    TSL_FAIL(TSL_ERR_INPUT, "%s: version %d.%d.%d of MDI; 1.4 or later is expected",
             m->stream->name, theirs[0], theirs[1], theirs[2]);
  TSL_TRY(xc_stream_put(m->stream, lengths, (int64_t)sizeof lengths));
  m->step = XC_MDI_LENGTHS;
done:
  return err;
}

static tsl_err take_lengths(xc_mdi *m, bool *whole) {
  enum { LEAST = 12 };
  tsl_err err = TSL_OK;
  int32_t theirs[2];
  *whole = take_numbers(m, theirs, (int64_t)sizeof theirs);
  if (!*whole) goto done;
  if (theirs[0] < LEAST || theirs[1] < LEAST)
    TSL_FAIL(TSL_ERR_INPUT, "%s: names of %d and commands of %d characters", m->stream->name,
             theirs[0], theirs[1]);
  m->name_length = shorter(theirs[0]), m->command_length = shorter(theirs[1]);
  m->step = XC_MDI_COMMANDS;
done:
  return err;
}

static tsl_err take_any(xc_mdi *m, tsl_asked *asked, bool *whole) {
  if (m->step == XC_MDI_VERSION) return take_version(m, whole);
  if (m->step == XC_MDI_LENGTHS) return take_lengths(m, whole);
  return m->data_of >= 0 ? take_data(m, whole) : take_command(m, asked, whole);
}

tsl_err xc_mdi_next(xc_mdi *m, double seconds, tsl_asked *asked) {
  tsl_err err = TSL_OK;
  xc_stream *s = m->stream;
  bool whole = true;
  *asked = TSL_ASKED_NOTHING;
  while (*asked == TSL_ASKED_NOTHING && whole) TSL_TRY(take_any(m, asked, &whole));
  if (*asked != TSL_ASKED_NOTHING) goto done;
  if (s->ended)
    TSL_FAIL(TSL_ERR_IO, "%s: the driver is gone %s", s->name,
             xc_stream_left(s) > 0 || m->data_of >= 0 ? "in the middle of a message"
                                                      : "without EXIT");
  TSL_TRY(xc_stream_wait(s, seconds));
done:
  return err;
}

tsl_err xc_mdi_open(xc_stream *stream, int64_t n_atoms, const int32_t *elements,
                    const double (*places)[3], xc_mdi *m) {
  tsl_err err = TSL_OK;
  const int64_t numbers = 3 * n_atoms;
  *m = (xc_mdi){.stream = stream, .n_atoms = n_atoms, .data_of = -1, .waiting = -1};
  TSL_TRY(tsl_alloc(n_atoms, sizeof *m->elements, "elements", (void **)&m->elements));
  TSL_TRY(tsl_alloc(numbers, sizeof *m->places, "places of atoms", (void **)&m->places));
  TSL_TRY(tsl_alloc(numbers, sizeof *m->forces, "forces", (void **)&m->forces));
  TSL_TRY(tsl_alloc(n_atoms, sizeof *m->charges, "charges", (void **)&m->charges));
  memcpy(m->elements, elements, (size_t)n_atoms * sizeof *elements);
  memcpy(m->places, places, (size_t)n_atoms * sizeof *places);
  TSL_TRY(take_lattice(m, 0));
  TSL_TRY(xc_stream_put(stream, version, (int64_t)sizeof version));
done:
  return err;
}

void xc_mdi_clear(xc_mdi *m) {
  TSL_FREE_ALL(m->elements, m->places, m->forces, m->charges, m->lattice_places, m->lattice_charges,
               m->lattice_forces);
  *m = (xc_mdi){.n_atoms = 0};
}
