/**
 * @file letters.h
 * Alphabets of sequences: letters and their codes.
 *
 * A letter equals itself and no other, N and the other ambiguous ones too. Two ways of writing are
 * one letter: lower case and upper case of dna, rna and protein; U is T in dna, T is U in rna.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** Alphabets in the order of the deck's words. */
typedef enum letters_alphabet {
  LETTERS_BYTES,
  LETTERS_DNA,
  LETTERS_RNA,
  LETTERS_PROTEIN
} letters_alphabet;

/** Words of `alphabet`, ended by NULL. */
extern const char *const letters_alphabet_words[];

/** Code of a character, or -1. Bytes are their own codes. */
int letters_code(int32_t alphabet, char character);

enum { LETTERS_BLANK = -2 };

/** How characters become codes. */
typedef struct letters_coder {
  int32_t alphabet;
  int16_t code_of[256]; /**< LETTERS_BLANK; -1: no letter */
  uint8_t row[32];      /**< of '@' to '_', those of the next 32 characters too; above 127: none */
  uint8_t star;         /**< of '*', the only letter besides; likewise */
} letters_coder;

letters_coder letters_coder_of(int32_t alphabet);

/** Codes of n characters, none of them blank. @return false: some are no letters, or blank; codes
 *  are then worth nothing */
bool letters_encode(const letters_coder *coder, const char *characters, int64_t n, uint8_t *codes);

/** The character of a code. */
char letters_char(int32_t alphabet, uint8_t code);

/** The characters of n codes. @param[out] characters  [n], no 0 at their end */
void letters_spell(int32_t alphabet, const uint8_t *codes, int64_t n, char *characters);

/** All letters of an alphabet in the order of their codes; "" for bytes. */
const char *letters_all(int32_t alphabet);

/** How many codes a problem with these letters has: those that usual sequences have (dna and rna 5,
 *  proteins 24, bytes 256), and up to the largest that occurs. */
int32_t letters_codes(int32_t alphabet, const uint8_t *codes, int64_t n);

/** How many codes, from 0, stand for one base or amino acid; bytes: 26, to make up letters from. */
int32_t letters_plain(int32_t alphabet);

/** How many of these codes stand for several bases or amino acids, or none; bytes: 0. */
int64_t letters_others(int32_t alphabet, const uint8_t *codes, int64_t n);

/** What the others are other than, for people: "A C G T"; "" for bytes. */
const char *letters_plainly(int32_t alphabet);
