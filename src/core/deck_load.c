/* The checked section into the caller's struct, by libcyaml with a schema made from the table. */
#include "deck_tree.h"

#include <cyaml/cyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 512, TABLE_DEPTH_MAX = 16 };

typedef struct log_text {
  char text[LOG_MAX];
} log_text;

static void keep_log(cyaml_log_t level, void *context, const char *fmt, va_list args) {
  log_text *log = context;
  const size_t used = strlen(log->text);
  (void)level;
  (void)vsnprintf(log->text + used, sizeof log->text - used, fmt, args);
  for (char *c = log->text + used; *c != '\0'; c++)
    if (*c == '\n') *c = ';';
}

static cyaml_config_t make_config(log_text *log) {
  return (cyaml_config_t){.log_fn = log != NULL ? keep_log : NULL,
                          .log_ctx = log,
                          .log_level = CYAML_LOG_WARNING,
                          .mem_fn = cyaml_mem,
                          .flags = CYAML_CFG_NO_ALIAS};
}

/** Bytes of the C type at a key's offset. */
static size_t member_bytes(const tsl_key *key) {
  static const size_t bytes[] = {
      [TSL_KEY_BOOL] = sizeof(bool),       [TSL_KEY_INT] = sizeof(int64_t),
      [TSL_KEY_REAL] = sizeof(double),     [TSL_KEY_BYTES] = sizeof(int64_t),
      [TSL_KEY_TEXT] = sizeof(char *),     [TSL_KEY_CHOICE] = sizeof(int32_t),
      [TSL_KEY_REALS] = sizeof(tsl_reals), [TSL_KEY_INTS] = sizeof(tsl_ints),
      [TSL_KEY_WORDS] = sizeof(int32_t),   [TSL_KEY_TEXTS] = sizeof(tsl_texts),
      [TSL_KEY_MAPS] = sizeof(tsl_maps)};
  return key->type == TSL_KEY_MAP ? key->struct_bytes : bytes[key->type];
}

/** A wrong table is the program's fault: say which key, before libcyaml writes anywhere. */
static tsl_err check_key(const char *section, const tsl_key *key, size_t bytes, int depth) {
  tsl_err err = TSL_OK;
  const bool nested = (int)key->type == TSL_KEY_MAP || (int)key->type == TSL_KEY_MAPS;
  if (depth > TABLE_DEPTH_MAX)
    TSL_FAIL(TSL_ERR_INTERNAL, "table of '%s': nested deeper than 16", section);
  if ((int)key->type < 0 || (int)key->type > TSL_KEY_MAPS)
    TSL_FAIL(TSL_ERR_INTERNAL, "table of '%s': key '%s' has no type", section, key->name);
  if ((key->type == TSL_KEY_CHOICE || key->type == TSL_KEY_WORDS) &&
      (key->choices == NULL || key->choices[0] == NULL))
    TSL_FAIL(TSL_ERR_INTERNAL, "table of '%s': key '%s' has no choices", section, key->name);
  if (nested && (key->keys == NULL || key->struct_bytes == 0))
    TSL_FAIL(TSL_ERR_INTERNAL, "table of '%s': key '%s' has no table or size", section, key->name);
  if (bytes > INT32_MAX || key->offset > bytes || member_bytes(key) > bytes - key->offset)
    TSL_FAIL(TSL_ERR_INTERNAL, "table of '%s': key '%s' lies outside its struct", section,
             key->name);
done:
  return err;
}

static tsl_err new_value(tsl_deck *deck, cyaml_type_e type, size_t bytes,
                         cyaml_schema_value_t **out) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  TSL_TRY(tsl_arena_alloc(&deck->arena, 1, sizeof **out, &memory));
  *out = memory;
  (*out)->type = type;
  (*out)->data_size = (uint32_t)bytes;
done:
  return err;
}

static tsl_err set_choices(tsl_deck *deck, const tsl_key *key, cyaml_schema_value_t *value) {
  const bool list = key->type == TSL_KEY_WORDS;
  tsl_err err = TSL_OK;
  cyaml_strval_t *words = NULL;
  void *memory = NULL;
  uint32_t n = 0;
  while (key->choices[n] != NULL) n++;
  TSL_TRY(tsl_arena_alloc(&deck->arena, n, sizeof *words, &memory));
  words = memory;
  for (uint32_t i = 0; i < n; i++)
    words[i] = (cyaml_strval_t){key->choices[i], list ? INT64_C(1) << i : i};
  value->type = list ? CYAML_FLAGS : CYAML_ENUM;
  value->flags |= CYAML_FLAG_STRICT;
  value->data_size = sizeof(int32_t);
  value->enumeration.strings = words;
  value->enumeration.count = n;
done:
  return err;
}

static tsl_err make_fields(tsl_deck *deck, const char *section, const tsl_key *keys, size_t bytes,
                           int depth, const cyaml_schema_field_t **out);

static void set_text(cyaml_schema_value_t *value) {
  value->type = CYAML_STRING;
  value->flags |= CYAML_FLAG_POINTER;
  value->data_size = sizeof(char);
  value->string.max = CYAML_UNLIMITED;
}

/** REALS, INTS, TEXTS, MAPS: a pointer and a 64-bit count. */
static tsl_err set_list(tsl_deck *deck, const char *section, const tsl_key *key, int depth,
                        cyaml_schema_field_t *field) {
  const size_t bytes = key->type == TSL_KEY_MAPS ? key->struct_bytes : sizeof(int64_t);
  const cyaml_type_e type = key->type == TSL_KEY_MAPS    ? CYAML_MAPPING
                            : key->type == TSL_KEY_REALS ? CYAML_FLOAT
                                                         : CYAML_INT;
  tsl_err err = TSL_OK;
  cyaml_schema_value_t *entry = NULL;
  TSL_TRY(new_value(deck, type, bytes, &entry));
  if (key->type == TSL_KEY_TEXTS) set_text(entry);
  if (key->type == TSL_KEY_MAPS)
    TSL_TRY(make_fields(deck, section, key->keys, bytes, depth + 1, &entry->mapping.fields));
  field->data_offset = (uint32_t)(key->offset + offsetof(tsl_maps, values));
  field->count_offset = (uint32_t)(key->offset + offsetof(tsl_maps, n));
  field->count_size = sizeof(uint64_t);
  field->value.type = CYAML_SEQUENCE;
  field->value.flags |= CYAML_FLAG_POINTER;
  field->value.data_size = (uint32_t)bytes;
  field->value.sequence.entry = entry;
  field->value.sequence.min = 0;
  field->value.sequence.max = CYAML_UNLIMITED;
done:
  return err;
}

static tsl_err set_field(tsl_deck *deck, const char *section, const tsl_key *key, int depth,
                         cyaml_schema_field_t *field) {
  tsl_err err = TSL_OK;
  cyaml_schema_value_t *value = &field->value;
  field->key = key->name;
  field->data_offset = (uint32_t)key->offset;
  value->flags = CYAML_FLAG_OPTIONAL; /* deck_bind.c has found all required keys */
  value->data_size = (uint32_t)member_bytes(key);
  switch (key->type) {
  case TSL_KEY_BOOL:
    value->type = CYAML_BOOL;
    break;
  case TSL_KEY_INT:
  case TSL_KEY_BYTES:
    value->type = CYAML_INT;
    break;
  case TSL_KEY_REAL:
    value->type = CYAML_FLOAT;
    break;
  case TSL_KEY_TEXT:
    set_text(value);
    break;
  case TSL_KEY_CHOICE:
  case TSL_KEY_WORDS:
    TSL_TRY(set_choices(deck, key, value));
    break;
  case TSL_KEY_MAP:
    value->type = CYAML_MAPPING;
    TSL_TRY(make_fields(deck, section, key->keys, key->struct_bytes, depth + 1,
                        &value->mapping.fields));
    break;
  case TSL_KEY_REALS:
  case TSL_KEY_INTS:
  case TSL_KEY_TEXTS:
  case TSL_KEY_MAPS:
    TSL_TRY(set_list(deck, section, key, depth, field));
    break;
  }
done:
  return err;
}

static tsl_err make_fields(tsl_deck *deck, const char *section, const tsl_key *keys, size_t bytes,
                           int depth, const cyaml_schema_field_t **out) {
  tsl_err err = TSL_OK;
  cyaml_schema_field_t *fields = NULL;
  void *memory = NULL;
  int n = 0;
  while (keys[n].name != NULL) n++;
  TSL_TRY(tsl_arena_alloc(&deck->arena, n + 1, sizeof *fields, &memory));
  fields = memory;
  for (int i = 0; i < n; i++) {
    TSL_TRY(check_key(section, &keys[i], bytes, depth));
    TSL_TRY(set_field(deck, section, &keys[i], depth, &fields[i]));
  }
  *out = fields;
done:
  return err;
}

tsl_err tsl_schema_create(tsl_deck *deck, const char *section, const tsl_key *keys, size_t bytes,
                          const void **schema) {
  tsl_err err = TSL_OK;
  cyaml_schema_value_t *top = NULL;
  TSL_TRY(new_value(deck, CYAML_MAPPING, bytes, &top));
  top->flags = CYAML_FLAG_POINTER;
  TSL_TRY(make_fields(deck, section, keys, bytes, 0, &top->mapping.fields));
  *schema = top;
done:
  return err;
}

/** The text was emitted by libyaml, so a libyaml that cannot parse it ran out of memory. */
static bool is_memory(cyaml_err_t result) {
  return result == CYAML_ERR_OOM || result == CYAML_ERR_LIBYAML_PARSER_INIT ||
         result == CYAML_ERR_LIBYAML_EVENT_INIT || result == CYAML_ERR_LIBYAML_PARSER;
}

tsl_err tsl_bound_load(tsl_deck *deck, tsl_bound *bound) {
  tsl_err err = TSL_OK;
  log_text log = {""};
  const cyaml_config_t config = make_config(&log);
  char *text = NULL;
  size_t n_bytes = 0;
  TSL_TRY(tsl_yaml_write(bound->node, &text, &n_bytes));
  const cyaml_err_t result =
      cyaml_load_data((const uint8_t *)text, n_bytes, &config, bound->schema, &bound->data, NULL);
  if (is_memory(result))
    TSL_FAIL(TSL_ERR_MEMORY, "%s: no memory to load section '%s' (%s) %s", deck->name,
             bound->section, cyaml_strerror(result), log.text);
  if (result != CYAML_OK)
    TSL_FAIL(TSL_ERR_INTERNAL, "%s: section '%s' cannot be loaded: %s (%s)", deck->name,
             bound->section, cyaml_strerror(result), log.text);
done:
  free(text);
  return err;
}

void tsl_bound_clear(tsl_bound *bound) {
  const cyaml_config_t config = make_config(NULL);
  if (bound->data != NULL) (void)cyaml_free(&config, bound->schema, bound->data, 0);
  bound->data = NULL;
}
