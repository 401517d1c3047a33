/**
 * @file checksum.h
 * A fast checksum of bytes: finds what a disk or a broken writer does to them, no forger.
 *
 * Fletcher's two sums (1982) over little-endian 64-bit words modulo 2^64: a += word, b += a. The
 * last word is filled up with zeros, and the number of bytes is the last word of all.
 */
#pragma once

#include <stdint.h>

/** Sums so far; zeroed to begin. */
typedef struct tsl_checksum {
  uint64_t a, b;
  int64_t bytes;
} tsl_checksum;

/** Take in bytes. All calls but the last give a multiple of 8. */
void tsl_checksum_add(tsl_checksum *sum, const void *bytes, int64_t n);

/** The checksum of all bytes taken in; never 0. */
uint64_t tsl_checksum_end(const tsl_checksum *sum);
