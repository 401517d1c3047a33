/* Between YAML text and the tree, by libyaml's events. */
#include "deck_tree.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct anchor {
  const char *name;
  const tsl_node *node;
  struct anchor *next;
} anchor;

/** One stream being read. At any time exactly one event is held. */
typedef struct reader {
  tsl_deck *deck;
  yaml_parser_t parser;
  yaml_event_t event;
  anchor *anchors;
  int64_t n_anchors;
  int32_t set;
  const char *text; /**< what is read, for the line of a bad byte */
} reader;

/* ---------------------------------------------------------------- reading */

static tsl_err fail_yaml(const reader *r, size_t line, size_t column, const char *what) {
  const tsl_deck *deck = r->deck;
  const tsl_node at = {.set = r->set};
  if (r->set > 0) return tsl_node_fail(deck, &at, __FILE__, __LINE__, "bad value: %s", what);
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__, "%s:%zu:%zu: %s", deck->name, line, column,
                  what);
}

static tsl_err fail_here(const reader *r, const char *what) {
  return fail_yaml(r, r->event.start_mark.line + 1, r->event.start_mark.column + 1, what);
}

#define HERE_FAIL(r, what)        \
  do {                            \
    err = TSL_ERR_INPUT;          \
    (void)fail_here((r), (what)); \
    goto done;                    \
  } while (0)

/** First byte of a character of UTF-8 text, counted as libyaml's marks count; 0 beyond the end. */
static char byte_at(const char *text, size_t index) {
  for (; *text != '\0' && index > 0; text++) index -= (text[1] & 0xc0) != 0x80;
  return *text;
}

/** libyaml's complaint as ours. */
static tsl_err fail_parser(const reader *r) {
  const yaml_parser_t *parser = &r->parser;
  const char *what = parser->problem != NULL ? parser->problem : "not YAML";
  size_t line = 1, start = 0;
  if (parser->error == YAML_SCANNER_ERROR && byte_at(r->text, parser->problem_mark.index) == '\t')
    what = "a tab; YAML wants blanks there";
  if (parser->error == YAML_MEMORY_ERROR)
    return tsl_fail(TSL_ERR_MEMORY, __FILE__, __LINE__, "%s: no memory to parse it", r->deck->name);
  if (parser->error != YAML_READER_ERROR)
    return fail_yaml(r, parser->problem_mark.line + 1, parser->problem_mark.column + 1, what);
  for (size_t i = 0; i < parser->problem_offset; i++)
    if (r->text[i] == '\n') line++, start = i + 1;
  return fail_yaml(r, line, parser->problem_offset - start + 1, what);
}

static tsl_err next_event(reader *r) {
  tsl_err err = TSL_OK;
  yaml_event_delete(&r->event);
  if (!yaml_parser_parse(&r->parser, &r->event)) TSL_TRY(fail_parser(r));
done:
  return err;
}

static tsl_err count_node(reader *r) {
  tsl_err err = TSL_OK;
  if (++r->deck->n_nodes > TSL_DECK_NODES_MAX)
    HERE_FAIL(r, "more than 1000000 values (aliases count as copies)");
done:
  return err;
}

static tsl_err new_node(reader *r, tsl_node_kind kind, tsl_node **out) {
  tsl_err err = TSL_OK;
  const tsl_node at = {.set = r->set,
                       .line = (int32_t)(r->event.start_mark.line + 1),
                       .column = (int32_t)(r->event.start_mark.column + 1)};
  TSL_TRY(count_node(r));
  TSL_TRY(tsl_node_new(&r->deck->arena, kind, &at, out));
done:
  return err;
}

/** Text of the scalar event. */
static tsl_err take_text(reader *r, const char **out) {
  tsl_err err = TSL_OK;
  const char *value = (const char *)r->event.data.scalar.value;
  const size_t length = r->event.data.scalar.length;
  if (memchr(value, '\0', length) != NULL) HERE_FAIL(r, "a zero byte in a text");
  TSL_TRY(tsl_arena_text(&r->deck->arena, value, length, out));
done:
  return err;
}

/** Remember the anchor of the event just read, to be filled when its node is complete. */
static tsl_err take_anchor(reader *r, const yaml_char_t *name, anchor **out) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  *out = NULL;
  if (name == NULL) goto done;
  if (++r->n_anchors > TSL_DECK_ANCHORS_MAX) HERE_FAIL(r, "more than 1000 anchors");
  TSL_TRY(tsl_arena_alloc(&r->deck->arena, 1, sizeof **out, &memory));
  *out = memory;
  TSL_TRY(tsl_arena_text(&r->deck->arena, (const char *)name, strlen((const char *)name),
                         &(*out)->name));
done:
  return err;
}

/** Copy an anchored node: the tree stays a tree, and copies count. */
static tsl_err copy_node(reader *r, const tsl_node *from, int depth, tsl_node **out) {
  tsl_err err = TSL_OK;
  tsl_node *member = NULL;
  if (depth > TSL_DECK_DEPTH_MAX) HERE_FAIL(r, "nested deeper than 32");
  TSL_TRY(count_node(r));
  TSL_TRY(tsl_node_new(&r->deck->arena, from->kind, from, out));
  (*out)->quoted = from->quoted;
  (*out)->key = from->key;
  (*out)->text = from->text;
  for (const tsl_node *child = from->first; child != NULL; child = child->next) {
    TSL_TRY(copy_node(r, child, depth + 1, &member));
    tsl_node_append(*out, member);
  }
done:
  return err;
}

static tsl_err read_alias(reader *r, int depth, tsl_node **out) {
  tsl_err err = TSL_OK;
  const char *name = (const char *)r->event.data.alias.anchor;
  const anchor *a = r->anchors;
  while (a != NULL && strcmp(a->name, name) != 0) a = a->next;
  if (a == NULL) HERE_FAIL(r, "an alias to an anchor that is not complete before it");
  TSL_TRY(copy_node(r, a->node, depth, out));
done:
  return err;
}

static tsl_err read_node(reader *r, int depth, tsl_node **out);

static tsl_err read_list(reader *r, int depth, tsl_node *list) {
  tsl_err err = TSL_OK;
  tsl_node *member = NULL;
  for (;;) {
    TSL_TRY(next_event(r));
    if (r->event.type == YAML_SEQUENCE_END_EVENT) break;
    TSL_TRY(read_node(r, depth + 1, &member));
    tsl_node_append(list, member);
  }
done:
  return err;
}

static tsl_err read_key(reader *r, const tsl_node *map, const char **key) {
  tsl_err err = TSL_OK;
  char show[TSL_DECK_SHOW_MAX];
  const tsl_node *twin = NULL;
  const tsl_node at = {.set = r->set, .line = (int32_t)(r->event.start_mark.line + 1)};
  if (r->event.type != YAML_SCALAR_EVENT) HERE_FAIL(r, "a key must be a word");
  if (r->event.data.scalar.tag != NULL || r->event.data.scalar.anchor != NULL)
    HERE_FAIL(r, "a key takes no tag and no anchor");
  if (map->n >= TSL_DECK_KEYS_MAX) HERE_FAIL(r, "more than 1024 keys in one map");
  TSL_TRY(take_text(r, key));
  twin = tsl_node_find(map, *key);
  if (twin != NULL)
    TSL_NODE_FAIL(r->deck, &at, "key '%s' is given twice, first on line %d",
                  tsl_deck_show(*key, show), (int)twin->line);
done:
  return err;
}

static tsl_err read_map(reader *r, int depth, tsl_node *map) {
  tsl_err err = TSL_OK;
  tsl_node *member = NULL;
  for (;;) {
    const char *key = NULL;
    TSL_TRY(next_event(r));
    if (r->event.type == YAML_MAPPING_END_EVENT) break;
    const yaml_mark_t mark = r->event.start_mark;
    TSL_TRY(read_key(r, map, &key));
    TSL_TRY(next_event(r));
    TSL_TRY(read_node(r, depth + 1, &member));
    member->key = key;
    member->line = (int32_t)(mark.line + 1);
    member->column = (int32_t)(mark.column + 1);
    tsl_node_append(map, member);
  }
done:
  return err;
}

/** Anchor, tag and kind of the event that starts a node. */
static tsl_err look_at(const reader *r, const yaml_char_t **name, tsl_node_kind *kind) {
  tsl_err err = TSL_OK;
  const yaml_event_t *event = &r->event;
  const yaml_char_t *tag = NULL;
  switch (event->type) {
  case YAML_SCALAR_EVENT:
    *kind = TSL_NODE_SCALAR, *name = event->data.scalar.anchor, tag = event->data.scalar.tag;
    break;
  case YAML_SEQUENCE_START_EVENT:
    *kind = TSL_NODE_LIST, *name = event->data.sequence_start.anchor;
    tag = event->data.sequence_start.tag;
    break;
  case YAML_MAPPING_START_EVENT:
    *kind = TSL_NODE_MAP, *name = event->data.mapping_start.anchor;
    tag = event->data.mapping_start.tag;
    break;
  default:
    TSL_FAIL(TSL_ERR_INTERNAL, "libyaml event %d where a value starts", (int)event->type);
  }
  if (tag != NULL) HERE_FAIL(r, "tags such as !!int are not used in decks");
done:
  return err;
}

/** Read the node that the held event starts; afterwards its last event is held. */
static tsl_err read_node(reader *r, int depth, tsl_node **out) {
  tsl_err err = TSL_OK;
  const yaml_char_t *name = NULL;
  tsl_node_kind kind = TSL_NODE_SCALAR;
  anchor *named = NULL;
  if (depth > TSL_DECK_DEPTH_MAX) HERE_FAIL(r, "nested deeper than 32");
  if (r->event.type == YAML_ALIAS_EVENT) {
    TSL_TRY(read_alias(r, depth, out));
    goto done;
  }
  TSL_TRY(look_at(r, &name, &kind));
  TSL_TRY(take_anchor(r, name, &named));
  TSL_TRY(new_node(r, kind, out));
  if (kind == TSL_NODE_SCALAR) {
    (*out)->quoted = r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    TSL_TRY(take_text(r, &(*out)->text));
  } else {
    TSL_TRY(kind == TSL_NODE_LIST ? read_list(r, depth, *out) : read_map(r, depth, *out));
  }
  if (named != NULL) named->node = *out, named->next = r->anchors, r->anchors = named;
done:
  return err;
}

/** The stream's only document; NULL when there is none. */
static tsl_err read_stream(reader *r, tsl_node **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(next_event(r)); /* stream start */
  TSL_TRY(next_event(r));
  if (r->event.type == YAML_STREAM_END_EVENT) goto done;
  TSL_TRY(next_event(r)); /* after document start */
  TSL_TRY(read_node(r, 0, out));
  TSL_TRY(next_event(r)); /* document end */
  TSL_TRY(next_event(r));
  if (r->event.type != YAML_STREAM_END_EVENT) HERE_FAIL(r, "more than one YAML document");
done:
  return err;
}

tsl_err tsl_yaml_read(tsl_deck *deck, const char *text, size_t n_bytes, int32_t set,
                      tsl_node **out) {
  tsl_err err = TSL_OK;
  const size_t mark = n_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* UTF-8's */
  reader r = {.deck = deck, .set = set, .text = text + mark};
  *out = NULL;
  if (!yaml_parser_initialize(&r.parser))
    TSL_FAIL(TSL_ERR_MEMORY, "%s: no memory for the YAML parser", deck->name);
  yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&r.parser, (const unsigned char *)r.text, n_bytes - mark);
  TSL_TRY(read_stream(&r, out));
done:
  yaml_event_delete(&r.event);
  yaml_parser_delete(&r.parser);
  return err;
}

/* ---------------------------------------------------------------- writing */

typedef struct writer {
  yaml_emitter_t emitter;
  char *text;
  size_t used, room;
} writer;

static int write_bytes(void *data, unsigned char *bytes, size_t n) {
  writer *w = data;
  if (n >= SIZE_MAX / 4 - w->used) return 0;
  if (w->used + n + 1 > w->room) {
    const size_t room = 2 * (w->used + n + 1);
    char *text = realloc(w->text, room);
    if (text == NULL) return 0;
    w->text = text, w->room = room;
  }
  memcpy(w->text + w->used, bytes, n);
  w->used += n;
  w->text[w->used] = '\0';
  return 1;
}

/** Emit an event that was set up (ready != 0); the emitter takes it in any case. */
static tsl_err emit(writer *w, int ready, yaml_event_t *event) {
  tsl_err err = TSL_OK;
  if (!ready) TSL_FAIL(TSL_ERR_MEMORY, "no memory to write the deck");
  if (!yaml_emitter_emit(&w->emitter, event))
    TSL_FAIL(TSL_ERR_MEMORY, "the deck cannot be written: %s",
             w->emitter.problem != NULL ? w->emitter.problem : "no memory");
done:
  return err;
}

static tsl_err write_scalar(writer *w, const char *text, bool quoted) {
  yaml_event_t event;
  const yaml_scalar_style_t style =
      quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
  return emit(w,
              yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                           (int)strlen(text), 1, 1, style),
              &event);
}

static tsl_err write_node(writer *w, const tsl_node *node) {
  tsl_err err = TSL_OK;
  yaml_event_t event;
  const bool map = node->kind == TSL_NODE_MAP;
  const bool flow = !map && (node->first == NULL || node->first->kind == TSL_NODE_SCALAR);
  if (node->kind == TSL_NODE_SCALAR) return write_scalar(w, node->text, node->quoted);
  TSL_TRY(emit(
      w,
      map ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE)
          : yaml_sequence_start_event_initialize(
                &event, NULL, NULL, 1, flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE),
      &event));
  for (const tsl_node *child = node->first; child != NULL; child = child->next) {
    if (map) TSL_TRY(write_scalar(w, child->key, false));
    TSL_TRY(write_node(w, child));
  }
  TSL_TRY(emit(w,
               map ? yaml_mapping_end_event_initialize(&event)
                   : yaml_sequence_end_event_initialize(&event),
               &event));
done:
  return err;
}

static tsl_err write_document(writer *w, const tsl_node *node) {
  tsl_err err = TSL_OK;
  yaml_event_t event;
  TSL_TRY(emit(w, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), &event));
  TSL_TRY(emit(w, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1), &event));
  TSL_TRY(write_node(w, node));
  TSL_TRY(emit(w, yaml_document_end_event_initialize(&event, 1), &event));
  TSL_TRY(emit(w, yaml_stream_end_event_initialize(&event), &event));
done:
  return err;
}

tsl_err tsl_yaml_write(const tsl_node *node, char **text, size_t *n_bytes) {
  tsl_err err = TSL_OK;
  writer w = {.text = NULL};
  *text = NULL;
  if (!yaml_emitter_initialize(&w.emitter)) TSL_FAIL(TSL_ERR_MEMORY, "no memory for the emitter");
  yaml_emitter_set_output(&w.emitter, write_bytes, &w);
  yaml_emitter_set_unicode(&w.emitter, 1);
  yaml_emitter_set_width(&w.emitter, -1);
  TSL_TRY(write_document(&w, node));
  *text = w.text, *n_bytes = w.used;
  w.text = NULL;
done:
  yaml_emitter_delete(&w.emitter);
  free(w.text);
  return err;
}
