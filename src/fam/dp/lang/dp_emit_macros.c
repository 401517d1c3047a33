/* Macros and types before the emitted functions: of the table, a cell, the arrays, and how the
 * engine reaches cells. */
#include "dp_emit_own.h"

#include <float.h>

const char *dp_type_word(int32_t type) {
  static const char *const words[] = {[TSL_U8] = "u8",   [TSL_I16] = "i16", [TSL_I32] = "i32",
                                      [TSL_I64] = "i64", [TSL_F32] = "f32", [TSL_F64] = "f64"};
  return words[type];
}

/** The value that every other is better than, for goals over all cells. */
static const char *worst_of(const dp_emitter *e) {
  const bool maximum = e->recurrence->equation.maximum != 0;
  switch (e->code->type) {
  case TSL_I16:
    return maximum ? "(-32767 - 1)" : "32767";
  case TSL_I32:
    return maximum ? "(-2147483647 - 1)" : "2147483647";
  case TSL_I64:
    return maximum ? "(-9223372036854775807LL - 1)" : "9223372036854775807LL";
  default:
    return maximum ? "-DP_INF" : "DP_INF";
  }
}

/** Inner indices: as parameters, of the layer being computed, of a run, and which are beyond their
 *  margins. */
static void put_inner(const dp_emitter *e, lang_text *out) {
  const lang_names *names = &e->recurrence->equation.names;
  const lang_table *t = &names->tables[0];
  const int last = t->n_inner - 1;
  lang_put(out, "#define DP_XTAKE const i64 x0");
  for (int n = 1; n <= last; n++) lang_put(out, ", const i64 x%d", n);
  lang_put(out, "\n#define DP_XPASS x0");
  for (int n = 1; n <= last; n++) lang_put(out, ", x%d", n);
  lang_put(out, "\n#define DP_RUN_FIRST (0");
  for (int n = 0; n < last; n++)
    lang_put(out, " + x%d * %lld", n, (long long)lang_layer_stride(names, n));
  lang_put(out, ")\n#define DP_X x%d\n#define DP_LAYER (DP_RUN_FIRST + DP_X)\n", last);
  lang_put(out, "enum { DP_RUN = %lld, DP_MARGIN_X = %d };\n", (long long)t->inner[last],
           (int)e->code->margin_inner[last]);
  lang_put(out, "#define DP_OUTER(layer)");
  for (int n = 0; n < last; n++)
    lang_put(out, " const i64 x%d = (layer) / %lld %% %lld;", n,
             (long long)lang_layer_stride(names, n), (long long)t->inner[n]);
  lang_put(out, "\n#define DP_OUTER_PLAIN (1");
  for (int n = 0; n < last; n++) lang_put(out, " & (x%d >= %d)", n, (int)e->code->margin_inner[n]);
  lang_put(out, ")\n");
}

/** With inner indices: T, and a cell from its runs of layers. */
static void put_layers(const dp_emitter *e, lang_text *out) {
  put_inner(e, out);
  lang_put(out, "enum { DP_VALUES = %d };\ntypedef struct dp_values {\n  E v[DP_VALUES];\n} T;\n",
           (int)e->code->values);
  lang_put(out, "#define DP_AT(x, n) ((x)[(n) * step])\n");
  lang_put(out, "#define DP_CTAKE DP_TTAKE, E *own, const i64 step, DP_XTAKE\n"
                "#define DP_CPASS DP_TPASS, own, step, DP_XPASS\n");
  lang_put(out, "#define DP_OWN(n) own[n]\n#define DP_FETCH(to, x, l) \\\n"
                "  for (i64 value = 0; value < DP_VALUES; value++) \\\n"
                "    (to).v[value] = (x)[value * DP_PLANE + (l)]\n"
                "#define DP_SCATTER(x, l, from) \\\n"
                "  for (i64 value = 0; value < DP_VALUES; value++) \\\n"
                "    (x)[value * DP_PLANE + (l)] = (from).v[value]\n");
  lang_put(out, "#define DP_IN_TURN %d\n", (int)e->code->in_turn);
  lang_put(out, "enum { DP_CHUNK = %d, DP_CHUNKS = %d };\n", (int)dp_code_chunk(e->code),
           (int)dp_code_chunks(e->code));
  lang_put(out, "#define DP_LOW %s\n", e->code->engine == DP_WAVEFRONT ? "dp_low" : "dp_full");
  lang_put(out,
           "#define DP_PUT(to, cell, more) do { \\\n    E *const v = (to).v; \\\n"
           "    for (i64 run = 0; run < DP_LAYERS; run += DP_RUN) { \\\n"
           "      DP_OUTER(run) \\\n"
           "      const i64 low = DP_OUTER_PLAIN ? DP_MARGIN_X : DP_RUN; \\\n"
           "      for (i64 DP_X = 0; DP_X < low; DP_X++) \\\n"
           "        dp_full(DP_PASS, DP_TPASS, v, 1, DP_XPASS, p, q, &bad); \\\n      %s"
           "for (i64 DP_X = low; DP_X < DP_RUN; DP_X++) \\\n"
           "        cell(DP_PASS, DP_TPASS, v, 1, DP_XPASS, more p, q, &bad); \\\n"
           "    } \\\n  } while (0)\n",
           e->other_layers ? "" : "_Pragma(\"GCC ivdep\") \\\n      ");
}

/** T, a cell: of several tables a struct. GATHER, FETCH and SCATTER: cell l of rows of values, one
 *  for each, DP_PLANE apart. PUT: a cell from its function. */
static void put_cell(const dp_emitter *e, dp_target target, lang_text *out) {
  const int n = (int)e->code->tables;
  lang_put(out, "#define DP_TABLES %d\n#define DP_LAYERS %d\n", n, (int)e->code->layers);
  lang_put(out, "enum { DP_LANES = %d, DP_PLANE = DP_LANES + %d };\n", (int)e->code->lanes,
           DP_PLANE_PAD);
  if (e->code->layers > 0) {
    put_layers(e, out);
    return;
  }
  lang_put(out, "#define DP_OWN(n) ((const E *)&own)[n]\n"
                "#define DP_PUT(to, cell, more) (to) = cell(DP_PASS, DP_TPASS, more p, q, &bad)\n"
                "#define DP_FETCH(to, x, l) (to) = DP_GATHER(x, l)\n");
  if (n == 1) {
    lang_put(out, "typedef E T;\n#define DP_OF(x, n) (x)\n#define DP_ZERO 0\n"
                  "#define DP_CTAKE DP_TTAKE\n#define DP_CPASS DP_TPASS\n"
                  "#define DP_GATHER(x, l) ((x)[l])\n#define DP_SCATTER(x, l, v) ((x)[l] = (v))\n");
    return;
  }
  lang_put(out, "typedef struct dp_values {\n  E v0");
  for (int t = 1; t < n; t++) lang_put(out, ", v%d", t);
  lang_put(out, ";\n");
  if (target == DP_TARGET_CUDA) {
    lang_put(out, "  dp_values() = default;\n"
                  "  __device__ __forceinline__ dp_values(int zero) : v0(zero)");
    for (int t = 1; t < n; t++) lang_put(out, ", v%d(zero)", t);
    lang_put(out, " {\n  }\n  __device__ __forceinline__ operator E() const { return v%d; }\n",
             (int)e->recurrence->equation.goal_table);
  }
  lang_put(out, "} T;\n#define DP_OF(x, n) ((x).v##n)\n#define DP_ZERO %s\n",
           target == DP_TARGET_CUDA ? "T(0)" : "((T){0})");
  lang_put(out, "#define DP_CTAKE DP_TTAKE, const T own\n#define DP_CPASS DP_TPASS, own\n");
  lang_put(out, "#define DP_GATHER(x, l) ((T){(x)[l]");
  for (int t = 1; t < n; t++) lang_put(out, ", (x)[%d * DP_PLANE + (l)]", t);
  lang_put(out, "})\n#define DP_SCATTER(x, l, v) ((x)[l] = (v).v0");
  for (int t = 1; t < n; t++) lang_put(out, ", (x)[%d * DP_PLANE + (l)] = (v).v%d", t, t);
  lang_put(out, ")\n#define DP_MEMBERS_OF(F)");
  for (int t = 0; t < n; t++) lang_put(out, " F(v%d)", t);
  lang_put(out, "\n");
}

static void put_types(const dp_emitter *e, lang_text *out) {
  const dp_code *c = e->code;
  const bool single = lang_is_single(&e->recurrence->equation.names);
  const int goal = (int)e->recurrence->equation.goal_table;
  lang_put(out, "typedef %s E;\ntypedef %s V;\ntypedef %s R;\n", dp_type_word(c->type),
           e->wide ? "i64" : "i32", single ? "f32" : "f64");
  lang_put(out, "#define DP_MOST_R ((R)%a)\n#define DP_LEAST_R ((R)%a)\n",
           single ? (double)FLT_MAX : DBL_MAX, single ? (double)FLT_MIN : DBL_MIN);
  lang_put(out, "#define DP_MOST_V %s\n", e->wide ? "9223372036854775807LL" : "2147483647");
  lang_put(out, "#define DP_PROWS %s\n#define DP_QCOLS %s\n", c->fold.transpose != 0 ? "NC" : "NR",
           c->fold.transpose != 0 ? "NR" : "NC");
  lang_put(out, "#define DP_I(p, q) (%s%s)\n", c->fold.flip_i != 0 ? "NR - 1 - " : "",
           c->fold.transpose != 0 ? "(q)" : "(p)");
  lang_put(out, "#define DP_J(p, q) (%s%s)\n", c->fold.flip_j != 0 ? "NC - 1 - " : "",
           c->fold.transpose != 0 ? "(p)" : "(q)");
  lang_put(out, "#define DP_MARGIN_P %d\n#define DP_MARGIN_Q %d\n", (int)c->margin_p,
           (int)c->margin_q);
  lang_put(out, "#define DP_ROWS_ONLY %d\n#define DP_SAME_ROW %d\n#define DP_DEPTH %d\n",
           (int)c->fold.rows_only, (int)c->same_row, (int)c->depth);
  lang_put(out, "#define DP_ENGINE_ROWS %d\n#define DP_ENGINE_TABLE %d\n",
           c->engine == DP_ROWS && c->depth > 0,
           c->engine != DP_WAVEFRONT && !(c->engine == DP_ROWS && c->depth > 0));
  lang_put(out, "#define DP_WORST %s\n", worst_of(e));
  if (c->layers > 0) /* a value's number, else the value */
    lang_put(out, "#define DP_GOAL(layer) ((layer) * DP_TABLES + %d)\n", goal);
  else
    lang_put(out, "#define DP_GOAL(x) DP_OF(x, %d)\n", goal);
  lang_put(out, "#define DP_CELLS %d\n", (int)e->recurrence->equation.names.tables[0].cells);
  lang_put(out, "#define DP_BEST %d\n#define DP_BETTER %c\n#define DP_LATER_Q %d\n", (int)c->best,
           e->recurrence->equation.maximum != 0 ? '>' : '<',
           c->fold.transpose != 0 ? (int)c->fold.flip_i : (int)c->fold.flip_j);
}

static void put_arrays(const dp_emitter *e, lang_text *out) {
  const lang_names *names = &e->recurrence->equation.names;
  lang_put(out, "#define DP_TAKE const i64 NR, const i64 NC");
  for (int a = 0; a < names->n_arrays; a++)
    lang_put(out, ", const %s *DP_RESTRICT A%d, const i64 A%d_r, const i64 A%d_c",
             dp_type_word(names->arrays[a].type), a, a, a);
  for (int s = 0; s < names->n_scalars; s++)
    lang_put(out, ", const %s S%d", names->scalars[s].kind == LANG_REAL ? "R" : "i64", s);
  lang_put(out, "\n#define DP_PASS NR, NC");
  for (int a = 0; a < names->n_arrays; a++) lang_put(out, ", A%d, A%d_r, A%d_c", a, a, a);
  for (int s = 0; s < names->n_scalars; s++) lang_put(out, ", S%d", s);
  lang_put(out, "\n#define DP_LOAD(a) const i64 NR = (a)->rows, NC = (a)->cols;");
  for (int a = 0; a < names->n_arrays; a++)
    lang_put(out,
             " const %s *DP_RESTRICT A%d = (const %s *)(a)->data[%d];"
             " const i64 A%d_r = (a)->shape[%d][0], A%d_c = (a)->shape[%d][1];",
             dp_type_word(names->arrays[a].type), a, dp_type_word(names->arrays[a].type), a, a, a,
             a, a);
  for (int s = 0; s < names->n_scalars; s++)
    lang_put(out, " const %s S%d = %s(a)->%s[%d];",
             names->scalars[s].kind == LANG_REAL ? "R" : "i64", s,
             names->scalars[s].kind == LANG_REAL ? "(R)" : "",
             names->scalars[s].kind == LANG_REAL ? "real" : "whole", s);
  lang_put(out, "\n");
}

/** The same as members of a struct, for CUDA. */
static void put_members(const dp_emitter *e, lang_text *out) {
  const lang_names *names = &e->recurrence->equation.names;
  lang_put(out, "#define DP_MEMBERS i64 NR, NC;");
  for (int a = 0; a < names->n_arrays; a++)
    lang_put(out, " const %s *DP_RESTRICT A%d; i64 A%d_r, A%d_c;",
             dp_type_word(names->arrays[a].type), a, a, a);
  for (int s = 0; s < names->n_scalars; s++)
    lang_put(out, " %s S%d;", names->scalars[s].kind == LANG_REAL ? "R" : "i64", s);
  lang_put(out, "\n#define DP_SET(a) NR = (a).rows; NC = (a).cols;");
  for (int a = 0; a < names->n_arrays; a++)
    lang_put(out,
             " A%d = (const %s *)(a).data[%d]; A%d_r = (a).shape[%d][0]; A%d_c = (a).shape[%d][1];",
             a, dp_type_word(names->arrays[a].type), a, a, a, a, a);
  for (int s = 0; s < names->n_scalars; s++)
    lang_put(out, " S%d = %s(a).%s[%d];", s, names->scalars[s].kind == LANG_REAL ? "(R)" : "",
             names->scalars[s].kind == LANG_REAL ? "real" : "whole", s);
  lang_put(out, "\n");
}

/** How the table is reached: the engine's own parameters. */
static void put_access(const dp_emitter *e, lang_text *out) {
  const dp_code *c = e->code;
  if (c->engine == DP_WAVEFRONT) {
    const char *type = c->layers > 0 ? "E *" : "T ";
    lang_put(out, "#define DP_TTAKE const %sup, const %sleft, const %sdiag\n", type, type, type);
    lang_put(out, "#define DP_TPASS up, left, diag\n");
  } else if (c->engine == DP_ROWS && c->depth > 0) {
    lang_put(out, "#define DP_TTAKE const T *r0");
    for (int d = 1; d <= c->depth; d++) lang_put(out, ", const T *r%d", d);
    lang_put(out, "\n#define DP_TPASS r0");
    for (int d = 1; d <= c->depth; d++) lang_put(out, ", r%d", d);
    lang_put(out, "\n#define DP_TROWS(rows) const T *r0 = (const T *)(rows)[0];");
    for (int d = 1; d <= c->depth; d++)
      lang_put(out, " const T *r%d = (const T *)(rows)[%d];", d, d);
    lang_put(out, "\n#define DP_TPICK(back) (");
    for (int d = 1; d <= c->depth; d++) lang_put(out, "(back) == %d ? r%d : ", d, d);
    lang_put(out, "r0)\n#define DP_TTABLE const T *const r0 = t + p * st;");
    for (int d = 1; d <= c->depth; d++) lang_put(out, " const T *const r%d = r%d - st;", d, d - 1);
    lang_put(out, "\n");
  } else {
    lang_put(out, "#define DP_TTAKE const T *t, const i64 st\n#define DP_TPASS t, st\n"
                  "#define DP_TTABLE\n");
  }
}

void dp_emit_macros(const dp_emitter *e, dp_target target, lang_text *out) {
  put_types(e, out);
  put_cell(e, target, out);
  put_arrays(e, out);
  if (target == DP_TARGET_CUDA) put_members(e, out);
  put_access(e, out);
}
