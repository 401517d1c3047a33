/**
 * @file xc_token.h
 * A secret that both sides of a socket know, by which the job sees that who asks may ask.
 *
 * It is sent in what i-PI's protocol has room for, the text of INIT, where i-PI writes the
 * parameters of a force field, "key : value , key : value". It is not encrypted: who can read what
 * goes over the network can read it, and takes a tunnel of ssh against that.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/** Bytes of a token. */
enum { XC_TOKEN_LEAST = 16, XC_TOKEN_MOST = 256 };

/**
 * The word in a file: letters, digits and -_.+/= alone.
 * @param[out] token  zero-ended
 * @return TSL_ERR_INPUT: it cannot be read, others than its owner may, or it holds no such word
 */
tsl_err xc_token_read(const char *path, char token[XC_TOKEN_MOST + 1]);

/** Is there an entry "token : TOKEN" in a text of so many bytes? In a time that does not depend on
 *  how far it is right. @param[out] named  there is such an entry, of whatever value */
bool xc_token_shown(const char *text, int64_t n, const char *token, bool *named);
