/**
 * @file text.h
 * Text from outside (decks, names of files, outputs of others) that goes to a terminal or a log.
 */
#pragma once

#include <stdio.h>

/**
 * Make text plain, in place and of the same length: what is no UTF-8, control characters (C0 but
 * tab and newline, DEL, C1) and characters that reorder or hide what stands beside them (Unicode
 * 15, table 23-2: marks, embeddings, overrides and isolates of direction; line and paragraph
 * separators; zero-width ones) become '?'.
 * Threads: any.
 */
void tsl_text_plain(char *text);

/** Print text made plain, newlines and tabs as blanks. @param[in] text  not changed */
void tsl_text_print(FILE *file, const char *text);
