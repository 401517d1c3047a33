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
    TSL_REALS_KEY("corners", VIEW(corners), -FAR, FAR,
                  "Outer edges [x_lo, y_lo, x_hi, y_hi]; pixels need not be square."),
    TSL_REALS_KEY("centre", VIEW(centre), -FAR, FAR, "Middle of the picture [x, y]; with width."),
    TSL_REAL_KEY("width", VIEW(width), "", TINY, FAR,
                 "Width of the picture; the height follows from square pixels."),
    {0}};

const tsl_key fractal_keys[] = {
    TSL_CHOICE_KEY(
        "set", AT(set), "mandelbrot", fractal_set_words,
        "z <- z^2 + c: mandelbrot, julia (c is fixed), or burning_ship (of |x| and |y|)."),
    TSL_REALS_KEY("c", AT(c), -FAR, FAR, "Julia: the constant [re, im]; required there."),
    TSL_MAP_KEY("view", AT(view), view_keys, sizeof((fractal_deck *)0)->view,
                "What is seen: corners, or centre and width; default: the whole set."),
    TSL_INT_KEY("xres", AT(xres), "1024", 1, SIDE, "Columns of pixels."),
    TSL_INT_KEY("yres", AT(yres), "1024", 1, SIDE, "Rows of pixels."),
    TSL_INT_KEY("maxiter", AT(maxiter), "1000", 1, MOST,
                "Points that need as many steps or more to leave are inside: value 0."),
    TSL_CHOICE_KEY("precision", AT(precision), "fp64", precision_words,
                   "Arithmetic; fp32 is faster, but refuses views narrower than about 1e-4, and "
                   "many values near the border change."),
    TSL_BOOL_KEY("exact", AT(exact), "yes",
                 "yes: each pixel as the plain loop gives it; no: areas with a border of one value "
                 "are filled, and the pixels thereby missed are estimated."),
    TSL_BOOL_KEY(
        "interior", AT(interior), "",
        "Mandelbrot: skip points in the main cardioid and the disc beside it; default yes; exact."),
    TSL_BOOL_KEY("periodicity", AT(periodicity), "yes",
                 "Stop when an orbit repeats bit for bit; exact."),
    TSL_BOOL_KEY(
        "binarise", AT(binarise), "yes",
        "Also write the image of 255 where the value is at least the mean, and 0 elsewhere."),
    TSL_TEXT_KEY(
        "png", AT(png), "",
        "PNG picture of the values; relative to the working folder; an older picture is replaced."),
    TSL_TEXT_KEY("binarised_png", AT(binarised_png), "",
                 "PNG picture of the binarised image; needs binarise: yes."),
    TSL_CHOICE_KEY(
        "palette", AT(palette), "", palette_words,
        "Colours of png, by the logarithm of the value; inside is black; default viridis."),
    TSL_CHOICE_KEY(
        "cpu_schedule", AT(schedule), "auto", fractal_schedule_words,
        "CPU: auto (default), or a plain loop dealt to the threads in one of the other ways."),
    TSL_CHOICE_KEY("gpu_memory", AT(memory), "device", fractal_memory_words,
                   "GPU: where the image lives: device memory and a copy, managed memory, pinned "
                   "host memory."),
    TSL_CHOICE_KEY(
        "gpu_threads", AT(threads), "auto", fractal_threads_words,
        "GPU: auto (default), or the plain loop with a thread for each column (1d) or pixel (2d)."),
    TSL_INT_KEY("gpu_block", AT(block), "", 1, 1024,
                "GPU: threads of a block of gpu_threads; default 128 for 1d, 256 for 2d, whose "
                "blocks are 16 columns wide."),
    TSL_CHOICE_KEY("gpu_mean", AT(mean), "auto", fractal_mean_words,
                   "GPU: how the values are summed for the mean."),
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
