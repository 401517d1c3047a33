/* How the files of other formats end: libchemfiles drops a frame that is cut off without a word. */
#include "trajectory.h"

#include "file_name.h"
#include "table_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** A file whose numbers are looked at. */
typedef struct source {
  const char *path;
  FILE *file;
  int64_t bytes;
  bool little;  /**< the order of its numbers' bytes */
  int32_t mark; /**< DCD: bytes of a record's mark, 4 or 8 */
} source;

/** Read n bytes at a place; they are there. */
static tsl_err take(const source *s, int64_t at, int64_t n, unsigned char *to) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < n;) {
    const ssize_t got = pread(fileno(s->file), to + k, (size_t)(n - k), (off_t)(at + k));
    if (got <= 0)
      TSL_FAIL(TSL_ERR_IO, "%s: it cannot be read at byte %lld", s->path, (long long)(at + k));
    k += got;
  }
done:
  return err;
}

static int64_t whole_number(const source *s, const unsigned char *from, int bytes) {
  uint64_t value = 0;
  for (int k = 0; k < bytes; k++) value = value << 8 | from[s->little ? bytes - 1 - k : k];
  return bytes == 4 ? (int64_t)(int32_t)(uint32_t)value : (int64_t)value;
}

/** A frame of `needed` bytes begins at `at` and goes beyond the file's end; needed 0: not known. */
static void note_bytes(const source *s, int64_t at, int64_t needed, trajectory_end *end) {
  if (needed > 0)
    (void)snprintf(end->cut, sizeof end->cut, "%lld of its %lld bytes are there",
                   (long long)(s->bytes - at), (long long)needed);
  else
    (void)snprintf(end->cut, sizeof end->cut, "%lld bytes of its head are there",
                   (long long)(s->bytes - at));
}

/* -------------------------------------------------------------- XTC and TRR */

/** Bytes of the frame at a place. @param[out] bytes  0: its head is cut off; -1: it is no frame */
typedef tsl_err (*frame_size)(source *s, int64_t at, int64_t *bytes);

/** magic, atoms, step, time, box[9], atoms; then up to 9 atoms as they are, or of compressed ones
 *  precision, least[3], most[3], an index, and their bytes (a number of 8 where magic is 2023) */
static tsl_err size_of_xtc(source *s, int64_t at, int64_t *bytes) {
  enum { HEAD = 56, COMPRESSED = 32, FEW = 9 };
  tsl_err err = TSL_OK;
  unsigned char head[HEAD + COMPRESSED + 8];
  const int64_t left = s->bytes - at;
  *bytes = 0;
  if (left < HEAD) goto done;
  TSL_TRY(take(s, at, left < (int64_t)sizeof head ? left : (int64_t)sizeof head, head));
  const int64_t magic = whole_number(s, head, 4), n = whole_number(s, head + HEAD - 4, 4);
  const int64_t wide = magic == 2023 ? 8 : 4;
  *bytes = -1;
  if ((magic != 1995 && magic != 2023) || n < 0) goto done;
  *bytes = HEAD + 12 * n;
  if (n <= FEW) goto done;
  *bytes = 0;
  if (left < HEAD + COMPRESSED + wide) goto done;
  const int64_t packed = whole_number(s, head + HEAD + COMPRESSED, (int)wide);
  *bytes =
      packed < 0 || packed > INT64_MAX / 2 ? -1 : HEAD + COMPRESSED + wide + (packed + 3) / 4 * 4;
done:
  return err;
}

/** magic, a word, the bytes of ten parts, of which forces are the last, atoms, step, nre, time,
 *  lambda; these are double where the box or a place is */
static tsl_err size_of_trr(source *s, int64_t at, int64_t *bytes) {
  enum { WORD = 24, PARTS = 10, NUMBERS = 13, HEAD = WORD + 4 * NUMBERS, BOX = 2, PLACES = 7 };
  tsl_err err = TSL_OK;
  unsigned char head[HEAD];
  int64_t parts[NUMBERS], sum = 0;
  *bytes = 0;
  if (s->bytes - at < HEAD) goto done;
  TSL_TRY(take(s, at, HEAD, head));
  *bytes = -1;
  if (whole_number(s, head, 4) != 1993 || memcmp(head + 12, "GMX_trn_file", 12) != 0) goto done;
  for (int k = 0; k < NUMBERS; k++) {
    parts[k] = whole_number(s, head + WORD + 4 * k, 4);
    if (parts[k] < 0) goto done;
    sum += k < PARTS ? parts[k] : 0;
  }
  int64_t each = parts[BOX] / 9;
  for (int k = PLACES; k < PARTS && each == 0; k++)
    each = parts[PARTS] > 0 ? parts[k] / (3 * parts[PARTS]) : 0;
  *bytes = HEAD + (each == 8 ? 16 : 8) + sum;
done:
  return err;
}

/** From frame to frame. */
static tsl_err walk(source *s, frame_size size, trajectory_end *end) {
  tsl_err err = TSL_OK;
  int64_t at = 0, bytes = 0;
  for (end->whole = 0; at < s->bytes; at += bytes, end->whole++) {
    TSL_TRY(size(s, at, &bytes));
    if (bytes < 0 && end->whole > 0)
      TSL_FAIL(TSL_ERR_INPUT,
               "%s: frame %lld does not begin at byte %lld, where the one before ends", s->path,
               (long long)end->whole + 1, (long long)at);
    if (bytes < 0) end->whole = -1; /* of another format: the library says so */
    if (bytes < 0) break;
    if (bytes == 0 || bytes > s->bytes - at) {
      note_bytes(s, at, bytes, end);
      break;
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- DCD */

/** Order of bytes and marks, from the first record's beginning: 84, CORD. */
static bool is_dcd(const unsigned char first[12], source *s) {
  for (int k = 0; k < 4; k++) {
    s->little = k % 2 == 0, s->mark = k < 2 ? 4 : 8;
    if (whole_number(s, first, s->mark) == 84 && memcmp(first + s->mark, "CORD", 4) == 0)
      return true;
  }
  return false;
}

/** What the header says: frames, and the bytes of the first one and of all others. */
typedef struct dcd {
  int64_t announced, first_at, first, other;
} dcd;

/** The record at a place of the header. @param[in,out] at  then the place of the next one
 *  @param[out] body  of its first bytes, at most `room` */
static tsl_err take_record(const source *s, int64_t *at, int64_t room, unsigned char *body,
                           int64_t *bytes) {
  tsl_err err = TSL_OK;
  unsigned char mark[8];
  *bytes = 0;
  const bool there = s->bytes - *at >= 2 * s->mark;
  if (there) {
    TSL_TRY(take(s, *at, s->mark, mark));
    *bytes = whole_number(s, mark, s->mark);
  }
  if (!there || *bytes < 0 || *bytes > s->bytes - *at - 2 * s->mark)
    TSL_FAIL(TSL_ERR_INPUT, "%s: its header is cut off or broken at byte %lld", s->path,
             (long long)*at);
  TSL_TRY(take(s, *at + s->mark, *bytes < room ? *bytes : room, body));
  *at += 2 * s->mark + *bytes;
done:
  return err;
}

/** Bytes of a frame: a cell of six doubles, and a record for each coordinate. */
static int64_t dcd_frame(const source *s, bool cell, int records, int64_t atoms) {
  return (cell ? 2 * s->mark + 48 : 0) + records * (2 * s->mark + 4 * atoms);
}

/** "CORD" and 20 numbers: frames the first, fixed atoms the 9th; where the last one, CHARMM's
 *  version, is not 0, the 11th and 12th are flags of a cell and of a fourth coordinate. */
static tsl_err read_dcd(const source *s, dcd *h) {
  tsl_err err = TSL_OK;
  unsigned char head[84], body[4] = {0};
  int64_t at = 0, bytes = 0, number[20];
  TSL_TRY(take_record(s, &at, sizeof head, head, &bytes));
  for (int k = 0; k < 20; k++) number[k] = whole_number(s, head + 4 + 4 * (int64_t)k, 4);
  TSL_TRY(take_record(s, &at, 0, body, &bytes)); /* titles */
  TSL_TRY(take_record(s, &at, sizeof body, body, &bytes));
  const int64_t atoms = whole_number(s, body, 4), fixed = number[8];
  if (bytes != 4 || atoms < 0 || fixed < 0 || fixed > atoms)
    TSL_FAIL(TSL_ERR_INPUT, "%s: its header has %lld atoms, %lld of them fixed", s->path,
             (long long)atoms, (long long)fixed);
  if (fixed > 0) TSL_TRY(take_record(s, &at, 0, body, &bytes)); /* which are free */
  const bool charmm = number[19] != 0, cell = charmm && number[10] != 0;
  const int records = charmm && number[11] == 1 ? 4 : 3;
  *h = (dcd){number[0], at, dcd_frame(s, cell, records, atoms),
             dcd_frame(s, cell, records, atoms - fixed)};
done:
  return err;
}

static tsl_err find_dcd(source *s, trajectory_end *end) {
  tsl_err err = TSL_OK;
  unsigned char first[12];
  dcd h;
  if (s->bytes < (int64_t)sizeof first) goto done;
  TSL_TRY(take(s, 0, sizeof first, first));
  if (!is_dcd(first, s)) goto done; /* the library says so */
  TSL_TRY(read_dcd(s, &h));
  const int64_t left = s->bytes - h.first_at, later = left - h.first;
  end->whole = later < 0 ? 0 : 1 + later / h.other;
  const int64_t rest = later < 0 ? left : later % h.other;
  if (rest > 0 || later < 0) note_bytes(s, s->bytes - rest, later < 0 ? h.first : h.other, end);
  end->announced = h.announced;
done:
  return err;
}

/* ------------------------------------------------------- texts, by their end */

/** Where the last line that begins so begins. @return -1: there is none */
static int64_t last_line(const char *text, int64_t n, const char *word) {
  const int64_t length = (int64_t)strlen(word);
  for (int64_t at = n - length; at >= 0; at--)
    if (memcmp(text + at, word, (size_t)length) == 0 && (at == 0 || text[at - 1] == '\n'))
      return at;
  return -1;
}

/** The file's end, ever more of it, until a line that begins so is in it, or all.
 *  @param[out] text  [*n + 1], ended by 0; free it  @param[out] at  that line, or -1 */
static tsl_err take_end(const source *s, const char *word, char **text, int64_t *n, int64_t *at) {
  enum { LEAST = 1 << 20 };
  tsl_err err = TSL_OK;
  for (*n = LEAST;; *n *= 2) {
    const bool all = *n >= s->bytes;
    *n = all ? s->bytes : *n;
    tsl_free(*text);
    *text = NULL;
    TSL_TRY(tsl_alloc(*n + 1, 1, "the end of a file", (void **)text));
    TSL_TRY(take(s, s->bytes - *n, *n, (unsigned char *)*text));
    *at = last_line(*text, *n, word);
    if (*at >= 0 || all) break;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- PDB */

/** Atoms after the last END; of a frame's beginning without any: 0; -1: no frame begins there. */
static int64_t atoms_after(const char *text, int64_t n) {
  static const char *const others[] = {"CONECT", "MASTER", "REMARK", "TER"};
  int64_t atoms = -1;
  for (const char *at = text, *end = text + n, *next = NULL; at < end; at = next) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    next = stop == NULL ? end : stop + 1;
    const size_t length = (size_t)((stop == NULL ? end : stop) - at);
    bool other = length == strspn(at, " \t\r") ||
                 (stop == NULL && length < 3 && memcmp(at, "END", length) == 0);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
      other |= length >= strlen(others[k]) && memcmp(at, others[k], strlen(others[k])) == 0;
    if (!other && atoms < 0) atoms = 0;
    if (length < 54) continue; /* of an atom the coordinates end there */
    atoms += memcmp(at, "ATOM  ", 6) == 0 || memcmp(at, "HETATM", 6) == 0;
  }
  return atoms;
}

static tsl_err find_pdb(source *s, trajectory_end *end) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t n = 0, at = -1;
  TSL_TRY(take_end(s, "END", &text, &n, &at));
  const char *stop = at < 0 ? NULL : memchr(text + at, '\n', (size_t)(n - at));
  const int64_t from = at < 0 ? 0 : stop == NULL ? n : stop + 1 - text;
  end->ended = at >= 0;
  end->atoms = atoms_after(text + from, n - from);
done:
  tsl_free(text);
  return err;
}

/* ------------------------------------------------------------- LAMMPS dumps */

/** The line after this one; NULL where this one has no end. */
static const char *next_line(const char *at) {
  const char *stop = strchr(at, '\n');
  return stop == NULL ? NULL : stop + 1;
}

/** Lines that are all there, at most `most`. @param[in,out] at  then behind them */
static int64_t count_lines(const char **at, int64_t most) {
  int64_t lines = 0;
  for (const char *next; lines < most && (next = next_line(*at)) != NULL; lines++) *at = next;
  return lines;
}

/** Where the lines of a frame's atoms begin. @param[out] atoms  that there should be
 *  @return NULL: the frame ends before */
static const char *atoms_of_dump(const char *text, int64_t *atoms) {
  *atoms = -1;
  for (const char *at = text; at != NULL; at = next_line(at)) {
    if (strncmp(at, "ITEM: ATOMS", 11) == 0) return *atoms < 0 ? NULL : next_line(at);
    const char *number = strncmp(at, "ITEM: NUMBER OF ATOMS", 21) == 0 ? next_line(at) : NULL;
    if (number != NULL && next_line(number) != NULL) *atoms = strtoll(number, NULL, 10);
  }
  return NULL;
}

/** The library refuses a file whose last frame lacks a line, or the end of one. */
static tsl_err find_dump(source *s, trajectory_end *end) {
  static const char word[] = "ITEM: TIMESTEP";
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t n = 0, begin = -1, atoms = 0, there = 0;
  TSL_TRY(take_end(s, word, &text, &n, &begin));
  if (begin < 0 || memchr(text, '\0', (size_t)n) != NULL) goto done; /* the library says so */
  const char *at = atoms_of_dump(text + begin, &atoms);
  if (at != NULL) there = count_lines(&at, atoms);
  if (at != NULL && there == atoms) { /* of the next frame its first line may have begun */
    const size_t more = strlen(at);
    if (more == 0 || more > sizeof word || memcmp(at, word, more) != 0) goto done;
    begin = at - text, atoms = -1;
  }
  end->keep = s->bytes - n + begin;
  if (end->keep == 0) end->whole = 0;
  if (atoms < 0)
    (void)snprintf(end->cut, sizeof end->cut, "its head is not all there");
  else
    (void)snprintf(end->cut, sizeof end->cut, "%lld of %lld atoms are there", (long long)there,
                   (long long)atoms);
done:
  tsl_free(text);
  return err;
}

/* ---------------------------------------------------------------------- GRO */

static int64_t decimals_of(const char *word, const char *word_end) {
  const char *point = memchr(word, '.', (size_t)(word_end - word));
  return point == NULL ? 0 : word_end - point - 1;
}

/** Is a line without its end a cell, 3 or 9 numbers of as many decimals? */
static bool is_cell(const char *at) {
  int64_t words = 0, first = 0, last = 0;
  for (at += strspn(at, " \t\r"); *at != '\0'; at += strspn(at, " \t\r"), words++) {
    const char *stop = at + strcspn(at, " \t\r");
    last = decimals_of(at, stop);
    first = words == 0 ? last : first;
    at = stop;
  }
  return (words == 3 || words == 9) && first == last;
}

/** Lines of a frame: its title, the number of atoms, a line each, the cell. 0: it is none. */
static int64_t lines_of_gro(const source *s, const char *text) {
  const char *number = next_line(text);
  char *stop = NULL;
  const long long atoms = number == NULL ? -1 : strtoll(number, &stop, 10);
  return atoms < 0 || stop == number || atoms > s->bytes ? 0 : atoms + 3;
}

/** Where the frame after the last whole one of `each` lines begins, and the lines of it that are
 *  there with their ends. */
static tsl_err count_frames(const source *s, int64_t each, int64_t *begin, int64_t *lines) {
  enum { PIECE = 1 << 20 };
  tsl_err err = TSL_OK;
  char *text = NULL;
  *begin = *lines = 0;
  TSL_TRY(tsl_alloc(PIECE, 1, "a part of a file", (void **)&text));
  for (int64_t at = 0, n; at < s->bytes; at += n) {
    n = s->bytes - at < PIECE ? s->bytes - at : PIECE;
    TSL_TRY(take(s, at, n, (unsigned char *)text));
    for (const char *end = text; (end = memchr(end, '\n', (size_t)(text + n - end))) != NULL;) {
      end++, ++*lines;
      if (*lines == each) *begin = at + (end - text), *lines = 0;
    }
  }
done:
  tsl_free(text);
  return err;
}

/** In words, what is there of a frame of `each` lines. */
static void note_lines(int64_t lines, int64_t each, trajectory_end *end) {
  if (lines < 2)
    (void)snprintf(end->cut, sizeof end->cut, "its head is not all there");
  else if (lines < each - 1)
    (void)snprintf(end->cut, sizeof end->cut, "%lld of %lld atoms are there", (long long)lines - 2,
                   (long long)each - 3);
  else
    (void)snprintf(end->cut, sizeof end->cut, "the line of its cell is not all there");
}

/** All frames have as many lines. The library takes what is there of a cell, if anything, and
 *  refuses a file that lacks more, or has empty lines behind. */
static tsl_err find_gro(source *s, trajectory_end *end) {
  enum { HEAD = 1024, MOST = 512 };
  tsl_err err = TSL_OK;
  char text[HEAD + 1];
  int64_t begin = 0, lines = 0, n = s->bytes < HEAD ? s->bytes : HEAD;
  TSL_TRY(take(s, 0, n, (unsigned char *)text));
  text[n] = '\0';
  const int64_t each = lines_of_gro(s, text);
  if (each == 0) goto done; /* the library says so */
  TSL_TRY(count_frames(s, each, &begin, &lines));
  n = s->bytes - begin < MOST ? s->bytes - begin : MOST;
  TSL_TRY(take(s, s->bytes - n, n, (unsigned char *)text));
  text[n] = '\0';
  const char *last = strrchr(text, '\n');
  const bool blank = s->bytes - begin == n && (int64_t)strspn(text, " \t\r\n") == n;
  if (lines == each - 1 && is_cell(last == NULL ? text : last + 1)) goto done;
  end->keep = n > 0 ? begin : 0;
  if (blank) goto done;
  if (begin == 0) end->whole = 0;
  note_lines(lines, each, end);
done:
  return err;
}

/* --------------------------------------------------------------------- ends */

tsl_err trajectory_end_find(const char *path, trajectory_end *end) {
  static const char *const endings[] = {".dcd", ".pdb", ".xtc", ".trr", ".gro", ".lammpstrj"};
  enum { DCD, PDB, XTC, TRR, GRO, DUMP, OTHER };
  tsl_err err = TSL_OK;
  source s = {.path = path};
  int format = DCD;
  *end = (trajectory_end){.whole = -1, .atoms = -1, .ended = true};
  while (format < OTHER && !tsl_ends_in(path, endings[format])) format++;
  if (format == OTHER) goto done;
  TSL_TRY(table_file_open(path, &s.file, &s.bytes));
  if (format == DCD) TSL_TRY(find_dcd(&s, end));
  if (format == PDB) TSL_TRY(find_pdb(&s, end));
  if (format == XTC) TSL_TRY(walk(&s, size_of_xtc, end));
  if (format == TRR) TSL_TRY(walk(&s, size_of_trr, end));
  if (format == GRO) TSL_TRY(find_gro(&s, end));
  if (format == DUMP) TSL_TRY(find_dump(&s, end));
done:
  if (s.file != NULL) (void)fclose(s.file);
  return err;
}
