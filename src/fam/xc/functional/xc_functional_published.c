/** @file xc_functional_published.c  Names that functionals are published with, however written. */
#include "xc_functional_own.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const xc_published rows[] = {
#define X(name, sum) {name, sum, 0, NULL},
    XC_PUBLISHED_LIST(X) XC_SPELLING_LIST(X)
#undef X
#define X(name, lacks) {name, NULL, lacks, NULL},
        XC_LACKING_LIST(X)
#undef X
#define X(name, choices) {name, NULL, 0, choices},
            XC_AMBIGUOUS_LIST(X)
#undef X
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

const xc_published *xc_published_rows(int *n) {
  *n = N_ROWS;
  return rows;
}

void xc_squeeze(const char *name, char out[XC_NAME]) {
  int length = 0;
  for (; *name != '\0' && length + 1 < XC_NAME; name++)
    if (isalnum((unsigned char)*name)) out[length++] = (char)tolower((unsigned char)*name);
  out[length] = '\0';
}

const xc_published *xc_published_find(const char *name) {
  char wanted[XC_NAME], have[XC_NAME];
  xc_squeeze(name, wanted);
  for (int k = 0; k < N_ROWS; k++) {
    xc_squeeze(rows[k].name, have);
    if (strcmp(wanted, have) == 0) return &rows[k];
  }
  return NULL;
}

const char *xc_lacks_text(unsigned lacks, char text[XC_TEXT]) {
#define X(NAME, words) words,
  static const char *const words[] = {XC_LACK_LIST(X)};
#undef X
  size_t used = 0;
  text[0] = '\0';
  for (unsigned k = 0; k < sizeof words / sizeof words[0]; k++) {
    if ((lacks >> k & 1) == 0) continue;
    const unsigned later = lacks >> (k + 1);
    used += (size_t)snprintf(text + used, XC_TEXT - used, "%s%s",
                             used == 0    ? ""
                             : later == 0 ? " and "
                                          : ", ",
                             words[k]);
  }
  return text;
}
