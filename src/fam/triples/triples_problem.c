/* From a deck to parameters and fields. */
#include "triples_family.h"

#include <stdio.h>

static tsl_err add_field(tsl_problem *problem, const char *name, const char *doc, const char *unit,
                         const tsl_field *shape) {
  tsl_field field = *shape, *added = NULL;
  field.role = TSL_OUT;
  tsl_field_label(&field, name, unit, doc);
  return tsl_problem_add(problem, &field, &added);
}

static tsl_err add_forces(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const triples_params *p = triples_params_of(problem);
  const tsl_field partial = {.type = TSL_F64,
                             .combine = TSL_GATHER,
                             .rank = 3,
                             .shape = {p->blocks, p->n, TRIPLES_SUMS},
                             .hidden = 1};
  const tsl_field forces = {
      .type = TSL_F64, .combine = TSL_GATHER, .rank = 2, .shape = {p->n, p->d, 1}};
  TSL_TRY(
      add_field(problem, "partial", "Sums over the pairs of each block of rows.", "1", &partial));
  TSL_TRY(add_field(problem, "forces", "Force on each point: minus the slope of the energy.", "1",
                    &forces));
done:
  return err;
}

static tsl_err add_counts(tsl_problem *problem, const char *unit) {
  tsl_err err = TSL_OK;
  const triples_params *p = triples_params_of(problem);
  const tsl_field counts = {
      .type = TSL_U64, .combine = TSL_SUM, .rank = 3, .shape = {p->bins, p->bins, p->bins}};
  const tsl_field edges = {
      .type = TSL_F64, .combine = TSL_GATHER, .rank = 1, .shape = {p->bins + 1, 1, 1}};
  TSL_TRY(add_field(problem, "triangles",
                    "Triangles whose shortest, middle and longest side are in bins a <= b <= c.",
                    "1", &counts));
  TSL_TRY(add_field(problem, "edges", "Edges of the bins of a side.", unit, &edges));
done:
  return err;
}

static tsl_err add_sums(tsl_problem *problem, const char *unit) {
  const triples_params *p = triples_params_of(problem);
  const tsl_field sums = {
      .type = TSL_F64, .combine = TSL_GATHER, .rank = 1, .shape = {p->n, 1, 1}, .hidden = !p->all};
  return add_field(problem, "sums", "Of each point the sum over the triples that it is of.", unit,
                   &sums);
}

/** Forces of equations are computed on sockets. */
static tsl_err check_devices(const tsl_deck *deck, const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  for (int r = 0; r < problem->n_devices; r++)
    if (triples_params_of(problem)->slopes && problem->devices[r].kind == TSL_GPU)
      TSL_DECK_FAIL(deck, "triples.output",
                    "forces of an equation are computed on sockets only, and rank %d has a card; "
                    "use run.device: cpu",
                    r);
done:
  return err;
}

/** The parsed equation's part of the problem. */
static tsl_err add_equation(const tsl_deck *deck, const triples_function_deck *s,
                            const triples_points *points, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  triples_equation equation = {0};
  TSL_TRY(check_devices(deck, problem));
  TSL_TRY(triples_equation_parse(deck, s, problem->params, &equation));
  TSL_TRY(add_sums(problem, s->unit != NULL ? s->unit : "1"));
  TSL_TRY(triples_equation_fields(deck, &equation, points, problem));
done:
  triples_equation_clear(&equation);
  return err;
}

static void note_points(const triples_points *points, tsl_problem *problem) {
  const triples_params *p = triples_params_of(problem);
  triples_own *own = problem->own;
  (void)snprintf(own->text, sizeof own->text, "points: %s; %lld of %lld dimension%s, in %s\n",
                 points->from, (long long)p->n, (long long)p->d, p->d == 1 ? "" : "s",
                 p->type == TSL_F32 ? "fp32" : "fp64");
}

static tsl_err triples_create(tsl_deck *deck, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  triples_deck s = {0};
  triples_points points = {0};
  TSL_TRY(tsl_alloc(1, sizeof(triples_params), "parameters", &problem->params));
  problem->params_bytes = (int64_t)sizeof(triples_params);
  TSL_TRY(tsl_alloc(1, sizeof(triples_own), "text", &problem->own));
  TSL_TRY(tsl_deck_bind(deck, "triples", triples_keys, sizeof s, &s));
  TSL_TRY(triples_check(deck, &s, problem->params));
  TSL_TRY(triples_load(deck, &s, &points));
  TSL_TRY(triples_prepare(deck, &points, problem));
  note_points(&points, problem);
  if (s.function.name == TRIPLES_EQUATION)
    TSL_TRY(add_equation(deck, &s.function, &points, problem));
  else if (s.function.name == TRIPLES_TRIANGLES)
    TSL_TRY(add_counts(problem, points.unit));
  else
    TSL_TRY(add_forces(problem));
done:
  table_rows_clear(&points.table);
  return err;
}

static void triples_describe(const tsl_problem *problem, char *text, size_t size) {
  (void)snprintf(text, size, "%s", ((const triples_own *)problem->own)->text);
}

static void triples_destroy(tsl_problem *problem) {
  triples_own *own = problem->own;
  if (own != NULL) tsl_free(own->work);
  tsl_free(own);
  problem->own = NULL;
}

static void triples_signature(const tsl_problem *problem, char text[96]) {
  const triples_params *p = triples_params_of(problem);
  (void)snprintf(text, 96, "%s %s b%d %08x", triples_function_words[p->function],
                 tsl_type_name((tsl_type)p->type), p->bins, (unsigned)p->equation);
}

const tsl_family tsl_family_triples = {
    .name = "triples",
    .doc = "All triples of n points: three-body forces, triangle counts, sums of equations.",
    .bad_value = "points so close together that their energy overflows the chosen precision; or an "
                 "equation that has no value there",
    .shape = TSL_BAG,
    .n_kinds = 1,
    .keys = triples_keys,
    .create = triples_create,
    .units = triples_units,
    .sample = triples_sample,
    .signature = triples_signature,
    .describe = triples_describe,
    .region = triples_region,
    .advance = triples_advance,
    .summary = triples_summary,
    .destroy = triples_destroy,
};
