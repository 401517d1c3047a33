/* Element types by size and name; sizes, labels and memory of fields. */
#include "field.h"

#include <stdio.h>

static const struct {
  size_t bytes;
  const char *name;
} types[TSL_N_TYPES] = {
    [TSL_U8] = {1, "u8"},   [TSL_I16] = {2, "i16"}, [TSL_U16] = {2, "u16"},
    [TSL_I32] = {4, "i32"}, [TSL_U32] = {4, "u32"}, [TSL_I64] = {8, "i64"},
    [TSL_U64] = {8, "u64"}, [TSL_F32] = {4, "f32"}, [TSL_F64] = {8, "f64"},
};

size_t tsl_type_bytes(tsl_type type) {
  return types[type].bytes;
}

const char *tsl_type_name(tsl_type type) {
  return types[type].name;
}

void tsl_field_label(tsl_field *field, const char *name, const char *unit, const char *doc) {
  (void)snprintf(field->name, sizeof field->name, "%s", name);
  (void)snprintf(field->unit, sizeof field->unit, "%s", unit);
  (void)snprintf(field->doc, sizeof field->doc, "%s", doc);
}

int64_t tsl_field_count(const tsl_field *field) {
  return field->shape[0] * field->shape[1] * field->shape[2];
}

int64_t tsl_field_row(const tsl_field *field) {
  return field->shape[1] * field->shape[2];
}

int64_t tsl_field_bytes(const tsl_field *field) {
  return tsl_field_count(field) * (int64_t)tsl_type_bytes((tsl_type)field->type);
}

tsl_err tsl_field_allocate(tsl_field *field) {
  if (field->data != NULL) return TSL_OK;
  return tsl_alloc(tsl_field_count(field), tsl_type_bytes((tsl_type)field->type), field->name,
                   &field->data);
}
