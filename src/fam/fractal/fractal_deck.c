/* The deck section `fractal:`: words, keys, and which key goes with which choice. */
#include "fractal_family.h"

#include <stddef.h>

const char *const fractal_set_words[] = {"mandelbrot", "julia", "burning_ship", NULL};
const char *const fractal_schedule_words[] = {"auto",   "tasks",    "static", "dynamic",
                                              "guided", "collapse", NULL};
const char *const fractal_memory_words[] = {"device", "managed", "pinned", NULL};
const char *const fractal_threads_words[] = {"auto", "1d", "2d", NULL};
const char *const fractal_mean_words[] = {"auto", "cublas", "tree", "atomic", NULL};

static const char *const precision_words[] = {"fp64", "fp32", NULL};
static const char *const palette_words[] = {"grey", "viridis", NULL};

#define AT(member) offsetof(fractal_deck, member)
#define VIEW(member) (offsetof(fractal_deck, view.member) - offsetof(fractal_deck, view))
#define FAR 1e6 /* coordinates: the sets lie within 2 of the origin */
#define TINY 1e-300
#define SIDE 1e12
#define MOST 2147483647.0 /* FRACTAL_MAX_ITER */

static const tsl_key view_keys[] = {
    {"corners", TSL_KEY_REALS, VIEW(corners), "", -FAR, FAR, NULL, NULL, 0,
     "Outer edges [x_lo, y_lo, x_hi, y_hi]; pixels need not be square."},
    {"centre", TSL_KEY_REALS, VIEW(centre), "", -FAR, FAR, NULL, NULL, 0,
     "Middle of the picture [x, y]; with width."},
    {"width", TSL_KEY_REAL, VIEW(width), "", TINY, FAR, NULL, NULL, 0,
     "Width of the picture; the height follows from square pixels."},
    {0}};

const tsl_key fractal_keys[] = {
    {"set", TSL_KEY_CHOICE, AT(set), "mandelbrot", 0, 0, fractal_set_words, NULL, 0,
     "z <- z^2 + c: mandelbrot, julia (c is fixed), or burning_ship (of |x| and |y|)."},
    {"c", TSL_KEY_REALS, AT(c), "", -FAR, FAR, NULL, NULL, 0,
     "Julia: the constant [re, im]; required there."},
    {"view", TSL_KEY_MAP, AT(view), "", 0, 0, NULL, view_keys, sizeof((fractal_deck *)0)->view,
     "What is seen: corners, or centre and width; default: the whole set."},
    {"xres", TSL_KEY_INT, AT(xres), "1024", 1, SIDE, NULL, NULL, 0, "Columns of pixels."},
    {"yres", TSL_KEY_INT, AT(yres), "1024", 1, SIDE, NULL, NULL, 0, "Rows of pixels."},
    {"maxiter", TSL_KEY_INT, AT(maxiter), "1000", 1, MOST, NULL, NULL, 0,
     "Points that need as many steps or more to leave are inside: value 0."},
    {"precision", TSL_KEY_CHOICE, AT(precision), "fp64", 0, 0, precision_words, NULL, 0,
     "Arithmetic; fp32 is faster, but refuses views narrower than about 1e-4, and many values near "
     "the border change."},
    {"exact", TSL_KEY_BOOL, AT(exact), "yes", 0, 0, NULL, NULL, 0,
     "yes: each pixel as the plain loop gives it; no: areas with a border of one value are filled, "
     "and the pixels thereby missed are estimated."},
    {"interior", TSL_KEY_BOOL, AT(interior), "", 0, 0, NULL, NULL, 0,
     "Mandelbrot: skip points in the main cardioid and the disc beside it; default yes; exact."},
    {"periodicity", TSL_KEY_BOOL, AT(periodicity), "yes", 0, 0, NULL, NULL, 0,
     "Stop when an orbit repeats bit for bit; exact."},
    {"binarise", TSL_KEY_BOOL, AT(binarise), "yes", 0, 0, NULL, NULL, 0,
     "Also write the image of 255 where the value is at least the mean, and 0 elsewhere."},
    {"png", TSL_KEY_TEXT, AT(png), "", 0, 0, NULL, NULL, 0,
     "PNG picture of the values; relative to the working folder; an older picture is replaced."},
    {"binarised_png", TSL_KEY_TEXT, AT(binarised_png), "", 0, 0, NULL, NULL, 0,
     "PNG picture of the binarised image; needs binarise: yes."},
    {"palette", TSL_KEY_CHOICE, AT(palette), "", 0, 0, palette_words, NULL, 0,
     "Colours of png, by the logarithm of the value; inside is black; default viridis."},
    {"cpu_schedule", TSL_KEY_CHOICE, AT(schedule), "auto", 0, 0, fractal_schedule_words, NULL, 0,
     "CPU: auto (default), or a plain loop dealt to the threads in one of the other ways."},
    {"gpu_memory", TSL_KEY_CHOICE, AT(memory), "device", 0, 0, fractal_memory_words, NULL, 0,
     "GPU: where the image lives: device memory and a copy, managed memory, pinned host memory."},
    {"gpu_threads", TSL_KEY_CHOICE, AT(threads), "auto", 0, 0, fractal_threads_words, NULL, 0,
     "GPU: auto (default), or the plain loop with a thread for each column (1d) or pixel (2d)."},
    {"gpu_block", TSL_KEY_INT, AT(block), "", 1, 1024, NULL, NULL, 0,
     "GPU: threads of a block of gpu_threads; default 128 for 1d, 256 for 2d, whose blocks are 16 "
     "columns wide."},
    {"gpu_mean", TSL_KEY_CHOICE, AT(mean), "auto", 0, 0, fractal_mean_words, NULL, 0,
     "GPU: how the values are summed for the mean."},
    {0}};

/* ----------------------------------------------------------- who uses what */

static tsl_err settle_set(const tsl_deck *deck, fractal_deck *s) {
  tsl_err err = TSL_OK;
  const char *set = fractal_set_words[s->set];
  if (s->set != FRACTAL_JULIA && s->c.n > 0)
    TSL_DECK_FAIL(deck, "fractal.c", "not used by set %s; remove it", set);
  if (s->set == FRACTAL_JULIA && s->c.n != 2)
    TSL_DECK_FAIL(deck, "fractal.c", "set julia needs its constant as [re, im], got %llu numbers",
                  (unsigned long long)s->c.n);
  if (s->set != FRACTAL_MANDELBROT && tsl_deck_given(deck, "fractal.interior"))
    TSL_DECK_FAIL(deck, "fractal.interior", "not used by set %s; remove it", set);
  if (!tsl_deck_given(deck, "fractal.interior")) s->interior = s->set == FRACTAL_MANDELBROT;
done:
  return err;
}

static tsl_err settle_pictures(const tsl_deck *deck, fractal_deck *s) {
  tsl_err err = TSL_OK;
  const bool chosen = tsl_deck_given(deck, "fractal.palette");
  if (chosen && s->png == NULL)
    TSL_DECK_FAIL(deck, "fractal.palette", "used only with the key png; add that or remove this");
  if (!chosen) s->palette = FRACTAL_VIRIDIS;
  if (s->binarised_png != NULL && !s->binarise)
    TSL_DECK_FAIL(deck, "fractal.binarised_png", "not used with binarise: no; remove it");
done:
  return err;
}

/** Filling is part of our own ways to share pixels out; the plain loops compute each. */
static tsl_err settle_exact(const tsl_deck *deck, const fractal_deck *s) {
  tsl_err err = TSL_OK;
  if (s->exact) goto done;
  if (s->schedule != FRACTAL_SCHEDULE_AUTO)
    TSL_DECK_FAIL(deck, "fractal.exact",
                  "'no' needs cpu_schedule auto, not %s: plain loops do not "
                  "fill",
                  fractal_schedule_words[s->schedule]);
  if (s->threads != FRACTAL_THREADS_AUTO)
    TSL_DECK_FAIL(deck, "fractal.exact",
                  "'no' needs gpu_threads auto, not %s: plain loops do not "
                  "fill",
                  fractal_threads_words[s->threads]);
done:
  return err;
}

/** Blocks of plain kernels. */
static tsl_err settle_block(const tsl_deck *deck, const fractal_deck *s) {
  tsl_err err = TSL_OK;
  if (s->block == 0) goto done;
  if (s->threads == FRACTAL_THREADS_AUTO)
    TSL_DECK_FAIL(deck, "fractal.gpu_block", "needs gpu_threads 1d or 2d; remove it");
  if (s->threads == FRACTAL_THREADS_2D && s->block % FRACTAL_BLOCK_WIDTH != 0)
    TSL_DECK_FAIL(deck, "fractal.gpu_block", "gpu_threads 2d needs a multiple of %d, got %lld",
                  FRACTAL_BLOCK_WIDTH, (long long)s->block);
done:
  return err;
}

tsl_err fractal_deck_settle(const tsl_deck *deck, fractal_deck *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(settle_set(deck, s));
  TSL_TRY(settle_pictures(deck, s));
  TSL_TRY(settle_exact(deck, s));
  TSL_TRY(settle_block(deck, s));
done:
  return err;
}
