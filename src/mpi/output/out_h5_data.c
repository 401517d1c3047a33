/* Datasets, attributes and tables that the root writes after the stream. */
#include "out_h5_own.h"

#include <hdf5_hl.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_ATTRIBUTE = 32 * 1024, SMALL_BYTES = 64 * 1024 };

hid_t tsl_out_type(int32_t type) {
  switch ((tsl_type)type) {
  case TSL_U8:
    return H5T_NATIVE_UINT8;
  case TSL_I16:
    return H5T_NATIVE_INT16;
  case TSL_U16:
    return H5T_NATIVE_UINT16;
  case TSL_I32:
    return H5T_NATIVE_INT32;
  case TSL_U32:
    return H5T_NATIVE_UINT32;
  case TSL_I64:
    return H5T_NATIVE_INT64;
  case TSL_U64:
    return H5T_NATIVE_UINT64;
  case TSL_F32:
    return H5T_NATIVE_FLOAT;
  case TSL_F64:
    return H5T_NATIVE_DOUBLE;
  case TSL_N_TYPES:
    break;
  }
  return -1;
}

/* -------------------------------------------------------------------- texts */

/* UTF-8 text of fixed size, closing zero included, or of any size with H5T_VARIABLE. */
static hid_t text_type(size_t size) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0) return -1;
  if (H5Tset_size(type, size) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
      H5Tset_strpad(type, H5T_STR_NULLTERM) >= 0)
    return type;
  (void)H5Tclose(type);
  return -1;
}

/* Write an attribute, replacing an earlier one. */
static herr_t put_attribute(hid_t object, const char *name, hid_t type, const void *value) {
  herr_t status = -1;
  hid_t attribute = -1;
  const hid_t space = H5Screate(H5S_SCALAR);
  if (space < 0) return -1;
  if (H5Aexists(object, name) > 0) (void)H5Adelete(object, name);
  attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute >= 0) {
    status = H5Awrite(attribute, type, value);
    if (H5Aclose(attribute) < 0) status = -1;
  }
  (void)H5Sclose(space);
  return status;
}

/** Attribute of an open object. */
static herr_t put_text(hid_t object, const char *name, const char *value) {
  const hid_t type = text_type(H5T_VARIABLE);
  const herr_t status = type < 0 ? -1 : put_attribute(object, name, type, &value);
  if (type >= 0) (void)H5Tclose(type);
  return status;
}

herr_t tsl_out_put_field(hid_t dataset, const tsl_field *field) {
  static const char *const combine[] = {"sum", "minimum", "maximum", "gather", "list"};
  if (put_text(dataset, "unit", field->unit) < 0 || put_text(dataset, "doc", field->doc) < 0 ||
      put_text(dataset, "order", "row-major, last index fastest") < 0)
    return -1;
  if (field->quantity[0] != '\0' && put_text(dataset, "quantity", field->quantity) < 0) return -1;
  return (field->role & TSL_OUT) == 0 ? 0
                                      : put_text(dataset, "combined_by", combine[field->combine]);
}

tsl_err tsl_out_text(tsl_out *out, const char *path, const char *text) {
  tsl_err err = TSL_OK;
  hid_t type = -1, space = -1, dataset = -1;
  if (out->rank != 0) return TSL_OK;
  TSL_TRY(tsl_out_ready(out, TSL_OUT_DESCRIBE));
  type = text_type(H5T_VARIABLE);
  space = H5Screate(H5S_SCALAR);
  if (type < 0 || space < 0) TSL_H5(out, -1, "describe text", path);
  dataset = H5Dcreate2(out->file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  TSL_H5(out, dataset, "create text", path);
  TSL_H5(out, H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text), "write text", path);
done:
  if (dataset >= 0) (void)H5Dclose(dataset);
  if (space >= 0) (void)H5Sclose(space);
  if (type >= 0) (void)H5Tclose(type);
  return tsl_out_settle(out, err);
}

/* --------------------------------------------------------------- attributes */

static tsl_err attribute(tsl_out *out, const char *object, const char *name, hid_t type,
                         const void *value) {
  tsl_err err = TSL_OK;
  hid_t place = -1;
  if (out->rank != 0) return TSL_OK;
  TSL_TRY(tsl_out_ready(out, TSL_OUT_DESCRIBE));
  place = H5Oopen(out->file, object, H5P_DEFAULT);
  TSL_H5(out, place, "open", object);
  TSL_H5(out, put_attribute(place, name, type, value), "write attribute", name);
done:
  if (place >= 0) (void)H5Oclose(place);
  return tsl_out_settle(out, err);
}

tsl_err tsl_out_attr_text(tsl_out *out, const char *object, const char *name, const char *value) {
  tsl_err err = TSL_OK;
  hid_t type = -1;
  if (out->rank != 0) return TSL_OK;
  if (strlen(value) > LONGEST_ATTRIBUTE)
    TSL_FAIL(TSL_ERR_INTERNAL, "attribute '%s' of '%s' is longer than %d bytes", name, object,
             LONGEST_ATTRIBUTE);
  type = text_type(H5T_VARIABLE);
  TSL_H5(out, type, "describe attribute", name);
  err = attribute(out, object, name, type, &value);
done:
  if (type >= 0) (void)H5Tclose(type);
  return err;
}

tsl_err tsl_out_attr_i64(tsl_out *out, const char *object, const char *name, int64_t value) {
  return attribute(out, object, name, H5T_NATIVE_INT64, &value);
}

tsl_err tsl_out_attr_f64(tsl_out *out, const char *object, const char *name, double value) {
  return attribute(out, object, name, H5T_NATIVE_DOUBLE, &value);
}

/* ------------------------------------------------------------------ datasets */

/* Create and write a whole dataset; *result stays open when not NULL. */
static tsl_err write_whole(tsl_out *out, const char *path, hid_t type, int rank,
                           const hsize_t *dims, const void *data, hid_t *result) {
  tsl_err err = TSL_OK;
  hid_t space = -1, create = -1, dataset = -1;
  hsize_t bytes = H5Tget_size(type);
  for (int k = 0; k < rank; k++) bytes *= dims[k];
  space = H5Screate_simple(rank, dims, NULL);
  create = bytes > SMALL_BYTES ? tsl_out_layout(out, rank, dims, H5Tget_size(type), false, true)
                               : H5Pcreate(H5P_DATASET_CREATE);
  if (space < 0 || create < 0) TSL_H5(out, -1, "describe dataset", path);
  dataset = H5Dcreate2(out->file, path, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  TSL_H5(out, dataset, "create dataset", path);
  if (bytes > 0)
    TSL_H5(out, H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "write dataset",
           path);
done:
  if (create >= 0) (void)H5Pclose(create);
  if (space >= 0) (void)H5Sclose(space);
  if (err != TSL_OK && dataset >= 0) {
    (void)H5Dclose(dataset);
    dataset = -1;
  }
  *result = dataset;
  return err;
}

char *tsl_out_path_of(const tsl_field *field, char path[TSL_NAME + 16]) {
  const char *group = (field->role & TSL_OUT) != 0 ? "results" : "input";
  (void)snprintf(path, TSL_NAME + 16, "/%s/%s", group, field->name);
  return path;
}

tsl_err tsl_out_array(tsl_out *out, const tsl_field *field) {
  tsl_err err = TSL_OK;
  char path[TSL_NAME + 16];
  hsize_t dims[3];
  hid_t dataset = -1;
  if (out->rank != 0) return TSL_OK;
  TSL_TRY(tsl_out_ready(out, TSL_OUT_DESCRIBE));
  if (field->data == NULL && tsl_field_count(field) > 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "field '%s' has no data to write", field->name);
  (void)tsl_out_path_of(field, path);
  for (int k = 0; k < 3; k++) dims[k] = (hsize_t)field->shape[k];
  TSL_TRY(
      write_whole(out, path, tsl_out_type(field->type), field->rank, dims, field->data, &dataset));
  TSL_H5(out, tsl_out_put_field(dataset, field), "describe dataset", path);
done:
  if (dataset >= 0) (void)H5Dclose(dataset);
  return tsl_out_settle(out, err);
}

tsl_err tsl_out_scale(tsl_out *out, const tsl_field *field, int dim, const tsl_field *scale) {
  tsl_err err = TSL_OK;
  char of_field[TSL_NAME + 16], of_scale[TSL_NAME + 16];
  hid_t dataset = -1, axis = -1;
  if (out->rank != 0) return TSL_OK;
  TSL_TRY(tsl_out_ready(out, TSL_OUT_DESCRIBE));
  dataset = H5Dopen2(out->file, tsl_out_path_of(field, of_field), H5P_DEFAULT);
  TSL_H5(out, dataset, "open dataset", of_field);
  axis = H5Dopen2(out->file, tsl_out_path_of(scale, of_scale), H5P_DEFAULT);
  TSL_H5(out, axis, "open dataset", of_scale);
  if (H5DSis_scale(axis) <= 0)
    TSL_H5(out, H5DSset_scale(axis, scale->name), "make a scale of", of_scale);
  TSL_H5(out, H5DSattach_scale(dataset, axis, (unsigned)dim), "attach scale", of_scale);
  TSL_H5(out, H5DSset_label(dataset, (unsigned)dim, scale->name), "label dimension", of_field);
done:
  if (axis >= 0) (void)H5Dclose(axis);
  if (dataset >= 0) (void)H5Dclose(dataset);
  return tsl_out_settle(out, err);
}

/* ------------------------------------------------------------------- tables */

static herr_t add_column(hid_t table, const tsl_column *column) {
  const bool text = column->text > 0;
  const hid_t type = text ? text_type((size_t)column->text) : tsl_out_type(column->type);
  const herr_t status = type < 0 ? -1 : H5Tinsert(table, column->name, column->offset, type);
  if (text && type >= 0) (void)H5Tclose(type);
  return status;
}

static herr_t put_column_unit(hid_t dataset, const tsl_column *column) {
  char name[TSL_NAME + 8];
  if (column->unit[0] == '\0') return 0;
  (void)snprintf(name, sizeof name, "%s_unit", column->name);
  return put_text(dataset, name, column->unit);
}

tsl_err tsl_out_table(tsl_out *out, const char *path, const tsl_column *columns, const void *rows,
                      size_t row_bytes, int64_t n) {
  tsl_err err = TSL_OK;
  const hsize_t dims[1] = {(hsize_t)n};
  hid_t type = -1, dataset = -1;
  if (out->rank != 0) return TSL_OK;
  TSL_TRY(tsl_out_ready(out, TSL_OUT_DESCRIBE));
  type = H5Tcreate(H5T_COMPOUND, row_bytes);
  TSL_H5(out, type, "describe table", path);
  for (const tsl_column *c = columns; c->name != NULL; c++)
    TSL_H5(out, add_column(type, c), "add column", c->name);
  TSL_TRY(write_whole(out, path, type, 1, dims, rows, &dataset));
  for (const tsl_column *c = columns; c->name != NULL; c++)
    TSL_H5(out, put_column_unit(dataset, c), "describe column", c->name);
done:
  if (dataset >= 0) (void)H5Dclose(dataset);
  if (type >= 0) (void)H5Tclose(type);
  return tsl_out_settle(out, err);
}
