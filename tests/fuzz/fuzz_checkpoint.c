/* Any bytes as a checkpoint, also with their checksum made right: read or refused with a message,
 * and what is read keeps the promises of the header. */
#include "../unit/checkpoint_fixture.h"
#include "fuzz_driver.h"

#include <unistd.h>

static volatile unsigned char sink; /* so that reading is not left out */

static void touch(const void *bytes, int64_t n) {
  for (int64_t k = 0; k < n; k++) sink = (unsigned char)(sink + ((const unsigned char *)bytes)[k]);
}

static int64_t bytes_of(const tsl_checkpoint_field *f, int from) {
  int64_t n = (int64_t)tsl_type_bytes((tsl_type)f->type);
  for (int k = from; k < 3; k++) n *= f->shape[k];
  return n;
}

static void use_tiles(const tsl_checkpoint *c) {
  int64_t bytes = 0;
  must((c->tiles == NULL) == (c->states == NULL), "tiles and states");
  for (int64_t u = 0; u < c->head.n_units && c->tiles != NULL; u++) {
    must(c->tiles[u] >= 0, "a tile");
    bytes += c->tiles[u];
  }
  if (c->states != NULL) touch(c->states, bytes);
}

static void use(const tsl_checkpoint *c) {
  char keys[200];
  use_tiles(c);
  touch(c->units, c->head.n_units * (int64_t)sizeof *c->units);
  for (int64_t r = 0; r < c->head.n_rows; r++)
    must(c->rows[r].unit.id >= 0 && c->rows[r].unit.id < c->head.n_units, "a unit");
  for (int64_t f = 0; f < c->head.n_fields; f++) {
    int64_t records = 0;
    if (c->data[f] != NULL) touch(c->data[f], bytes_of(&c->fields[f], 0));
    for (int64_t u = 0; u < c->head.n_units && c->counts[f] != NULL; u++) {
      must(c->counts[f][u] >= 0, "a count");
      records += c->counts[f][u];
    }
    if (c->counts[f] != NULL) touch(c->records[f], records * bytes_of(&c->fields[f], 1));
  }
  must(tsl_checkpoint_differ(c->deck, c->deck, NULL, keys, sizeof keys) == 0, "a deck is itself");
  (void)tsl_checkpoint_differ(c->deck, fix_deck, NULL, keys, sizeof keys);
  touch(c->family, (int64_t)strlen(c->family) + 1);
}

static void parse(const uint8_t *data, size_t n, bool seal) {
  tsl_checkpoint c;
  char *bytes = malloc(n + 1);
  if (bytes == NULL) return;
  memcpy(bytes, data, n);
  if (seal) memcpy(bytes, TSL_CHECKPOINT_MAGIC, 8), fix_seal(bytes, (int64_t)n);
  const tsl_err err = tsl_checkpoint_parse("fuzz", bytes, (int64_t)n, &c);
  must(err == TSL_OK || (err == TSL_ERR_INPUT && tsl_err_message()[0] != '\0'), "refusal");
  if (err == TSL_OK) use(&c);
  tsl_checkpoint_clear(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  parse(data, n_bytes, false);
  if (n_bytes / 8 * 8 >= 16) parse(data, n_bytes / 8 * 8, true);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {"TSLCKP"};
static const char tokens[] = "\2\1\3\1\4\1\10\1\377\377\377\377\377\377\377\377\1\177\1tri\1: ";

int main(int argc, char **argv) {
  const fuzz_language language = {texts, 1, tokens};
  char path[] = "/tmp/tsl_fuzz_checkpoint_XXXXXX";
  const int fd = mkstemp(path);
  int64_t n = 0;
  if (fd < 0 || close(fd) != 0 || fix_write(path, 1, &n) != TSL_OK) return 2;
  char *bytes = fix_load(path, &n);
  (void)unlink(path);
  if (n > FUZZ_BYTES) return 2;
  fuzz_add(bytes, (size_t)n);
  free(bytes);
  const long long runs = fuzz_run(argc, argv, &language);
  (void)printf("fuzz_checkpoint: %lld files tried, none failed\n", runs);
  return 0;
}

#endif
