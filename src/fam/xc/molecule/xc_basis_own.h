/* Shared by the readers of basis sets. */
#pragma once

#include "xc_basis.h"
#include "xc_words.h"

/** Append an empty shell of element z; *shell is valid until the next call. */
tsl_err xc_set_add(xc_set *set, const table_lines *lines, int32_t z, int32_t l,
                   xc_set_shell **shell);

/** Store primitive k of a shell: exponent positive and at most 1e9, both numbers finite. */
tsl_err xc_set_put(xc_set_shell *shell, const table_lines *lines, double exponent,
                   double coefficient);

/** Read NWChem's block "ECP ... END", whose first word has been read, into set->ecps. */
tsl_err xc_ecp_parse_nwchem(table_lines *lines, xc_set *set);

/** Is this line "I-ECP 3 28"? */
bool xc_ecp_begins_gaussian(const xc_words *words);
/** Read the potential that begins with that line, head, into set->ecps. */
tsl_err xc_ecp_parse_gaussian(table_lines *lines, const xc_words *head, int32_t z, xc_set *set);

/** No element may come twice: z must not be among the shells so far. */
tsl_err xc_set_check_new(const xc_set *set, const table_lines *lines, int32_t z);
