/* The table of options and the parser of `SUBCOMMAND [DECK] [options]`, which names the nearest
 * option to an unknown one. */
#include "options.h"

#include "deck.h"

#include <stdio.h>
#include <string.h>

/* An option: its letter in allowed, its names, and whether a value follows. */
static const struct {
  char letter;
  const char *name, *alias;
  bool value;
} table[] = {
    {'o', "--output", "-o", true},       {'s', "--set", "-s", true},
    {'t', "--trace", NULL, true},        {'q', "--quiet", "-q", false},
    {'w', "--overwrite", NULL, false},   {'h', "--help", "-h", false},
    {'i', "--interpret", NULL, false},   {'r', "--restart", NULL, true},
    {'m', "--max-walltime", NULL, true}, {'x', "--strict", NULL, false},
    {'p', "--ipi", NULL, true},          {'j', "--qcschema", NULL, false},
    {'d', "--mdi", NULL, true},          {'c', "--cluster", NULL, true},
};
enum { N_OPTIONS = sizeof table / sizeof table[0] };

static int options_find(const char *word, const char *allowed) {
  for (int k = 0; k < N_OPTIONS; k++) {
    const bool match =
        strcmp(word, table[k].name) == 0 || (table[k].alias && strcmp(word, table[k].alias) == 0);
    if (match && (table[k].letter == 'h' || strchr(allowed, table[k].letter) != NULL)) return k;
  }
  return -1;
}

/* "'--output' or '-o'" */
static void name_option(const char *name, char text[64]) {
  int k = 0;
  while (strcmp(table[k].name, name) != 0) k++;
  (void)snprintf(text, 64, "'%s'%s%s%s", name, table[k].alias != NULL ? " or '" : "",
                 table[k].alias != NULL ? table[k].alias : "", table[k].alias != NULL ? "'" : "");
}

static tsl_err unknown(const char *word, const char *subcommand, const char *allowed) {
  const char *names[N_OPTIONS + 1];
  int n = 0;
  for (int k = 0; k < N_OPTIONS; k++)
    if (table[k].letter == 'h' || strchr(allowed, table[k].letter)) names[n++] = table[k].name;
  names[n] = NULL;
  const char *near = tsl_nearest_word(word, names), *equals = strchr(word, '=');
  char meant[64] = "";
  if (near != NULL) name_option(near, meant);
  if (equals != NULL && strncmp(word, "--", 2) == 0)
    return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__,
                    "'%s': a value stands apart from its option: %.*s %s", word,
                    (int)(equals - word), word, equals + 1);
  return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__,
                  "'%s' is not an option of `tesela %s`%s%s%s; see `tesela %s --help`", word,
                  subcommand, near ? "; did you mean " : "", meant, near ? "?" : "", subcommand);
}

/* Digits alone, so that no sign or blank slips in. */
static bool options_take_number(const char **text, double most, double *out) {
  int digits = 0;
  *out = 0;
  for (; **text >= '0' && **text <= '9'; ++*text, digits++) *out = 10 * *out + (**text - '0');
  return digits > 0 && *out <= most;
}

/* H:MM:SS */
static tsl_err take_walltime(const char *text, double *seconds) {
  tsl_err err = TSL_OK;
  const char *at = text;
  double h = 0, m = 0, s = 0;
  const bool good = options_take_number(&at, 1e6, &h) && *at++ == ':' &&
                    options_take_number(&at, 59, &m) && *at++ == ':' &&
                    options_take_number(&at, 59, &s) && *at == '\0';
  *seconds = 3600 * h + 60 * m + s;
  if (!good || *seconds <= 0)
    TSL_FAIL(TSL_ERR_USAGE, "--max-walltime %s: expected H:MM:SS, such as 11:59:00", text);
done:
  return err;
}

static tsl_err options_take(tsl_options *o, char letter, const char *value) {
  switch (letter) {
  case 'o':
    o->output = value;
    break;
  case 't':
    o->trace = value;
    break;
  case 'r':
    o->restart = value;
    break;
  case 'm':
    return take_walltime(value, &o->walltime);
  case 'q':
    o->quiet = true;
    break;
  case 'w':
    o->overwrite = true;
    break;
  case 'x':
    o->strict = true;
    break;
  case 'p':
    o->ipi = value;
    break;
  case 'd':
    o->mdi = value;
    break;
  case 'c':
    o->cluster = value;
    break;
  case 'j':
    o->qcschema = true;
    break;
  case 'h':
    o->help = true;
    break;
  default: /* --set, --interpret */
    if (o->n_sets == TSL_MAX_SETS)
      return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__, "more than %d --set", TSL_MAX_SETS);
    o->sets[o->n_sets++] = letter == 'i' ? "dp.interpret=yes" : value;
  }
  return TSL_OK;
}

static void options_join(int argc, char **argv, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "tesela");
  for (int k = 0; k < argc && used < size; k++)
    used += (size_t)snprintf(text + used, size - used, " %s", argv[k]);
}

tsl_err tsl_options_parse(int argc, char **argv, const char *allowed, bool need_deck,
                          tsl_options *o) {
  tsl_err err = TSL_OK;
  *o = (tsl_options){0};
  options_join(argc, argv, o->command, sizeof o->command);
  for (int k = 1; k < argc; k++) {
    const int which = argv[k][0] == '-' ? options_find(argv[k], allowed) : -1;
    if (argv[k][0] != '-') {
      if (!need_deck) TSL_FAIL(TSL_ERR_USAGE, "`tesela %s` takes no '%s'", argv[0], argv[k]);
      if (o->deck != NULL)
        TSL_FAIL(TSL_ERR_USAGE, "two decks given, '%s' and '%s'; `tesela %s` takes one", o->deck,
                 argv[k], argv[0]);
      o->deck = argv[k];
      continue;
    }
    if (which < 0) TSL_TRY(unknown(argv[k], argv[0], allowed));
    if (table[which].value && k + 1 == argc)
      TSL_FAIL(TSL_ERR_USAGE, "%s needs a value; see `tesela %s --help`", argv[k], argv[0]);
    if (table[which].value && argv[k + 1][0] == '-')
      TSL_FAIL(TSL_ERR_USAGE, "%s needs a value before '%s'; a file of that name is ./%s", argv[k],
               argv[k + 1], argv[k + 1]);
    TSL_TRY(options_take(o, table[which].letter, table[which].value ? argv[k + 1] : NULL));
    k += table[which].value;
  }
  if (need_deck && o->deck == NULL && !o->help)
    TSL_FAIL(TSL_ERR_USAGE, "`tesela %s` needs a deck; see `tesela %s --help`", argv[0], argv[0]);
done:
  return err;
}
