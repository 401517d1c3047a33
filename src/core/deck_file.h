/**
 * @file deck_file.h
 * Files of YAML that are read and bound as decks are and that have other sections.
 */
#pragma once

#include "deck.h"

TSL_C_BEGIN

/**
 * Check the top level, in place of tsl_deck_top: these sections (NULL-ended) and nothing else.
 * @return TSL_ERR_INPUT with file:line and the nearest section
 */
tsl_err tsl_deck_sections(const tsl_deck *deck, const char *const *sections);

TSL_C_END
