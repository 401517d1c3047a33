/* Kernels of fractal_kernels.h for one type; included once for float and once for double. No guard:
 * the includer sets R, REAL_F64, T(name) and the lanes of fractal_lanes_*.h. */

enum { T(FEW_LANES) = FEW * T(W), T(FLY_LANES) = FLY * T(W) };

/** Pixels on their way, side by side. */
typedef struct T(flock) {
  T(V) x[FEW], y[FEW];   /**< z */
  T(V) cx[FEW], cy[FEW]; /**< c */
  T(I) steps[FEW];       /**< made by follow */
  T(M) in[FEW];          /**< lanes that are followed; afterwards those still within */
} T(flock);

/** States before the block in which a pixel left, to be counted. */
typedef struct T(queue) {
  R x[T(FEW_LANES)], y[T(FEW_LANES)], cx[T(FEW_LANES)], cy[T(FEW_LANES)];
  int64_t steps[T(FEW_LANES)]; /**< from z_0 to that state */
  target to[T(FEW_LANES)];
  int n;
} T(queue);

/** Pixels that survived the first steps and wait for a lane. */
typedef struct T(fresh) {
  R x[T(FEW_LANES)], y[T(FEW_LANES)], cx[T(FEW_LANES)], cy[T(FEW_LANES)];
  uint64_t waits; /**< bit i: entry i does */
  int64_t at;     /**< pixel of the piece that entry 0 is */
} T(fresh);

/** What a thread is at. */
typedef struct T(paint_state) {
  /* the long run: one pixel in each lane */
  R x[T(FLY_LANES)], y[T(FLY_LANES)], cx[T(FLY_LANES)], cy[T(FLY_LANES)];
  R x0[T(FLY_LANES)], y0[T(FLY_LANES)]; /**< z before the last block */
  R x1[T(FLY_LANES)], y1[T(FLY_LANES)]; /**< z of an earlier block, to see it repeat */
  unsigned out[FLY], stuck[FLY];        /**< lanes that left, that repeat themselves */
  int64_t begun[T(FLY_LANES)];          /**< block at which the lane was filled */
  int64_t save[T(FLY_LANES)];           /**< block from which on x1, y1 are to be set */
  target to[T(FLY_LANES)];
  int active;         /**< lanes that are not idle */
  int64_t now;        /**< blocks done */
  int64_t end, saves; /**< block at which a lane may end; at which saves are looked for */
  T(fresh) fresh;
  T(queue) left;
  fractal_piece piece;
  int64_t at; /**< next pixel of the piece */
  bool dry;
  R two; /**< 2, hidden from the compiler, which would make x * 2 an addition */
  int64_t first_steps, blocks; /**< steps in order; blocks after which a lane is inside */
  const fractal_params *p;
  fractal_source *source;
  fractal_counts *counts;
} T(paint_state);

/* ------------------------------------------------------------------ arithmetic */

/** fractal_step of all lanes. Additions and multiplications go to different units of most
 *  processors: a doubling is an addition when odd, else a multiplication. */
LANE void T(step)(T(V) * x, T(V) * y, T(V) cx, T(V) cy, const bool burning, const bool odd,
                  T(V) two) {
  const T(V) a = burning ? T(size)(*x) : *x, b = burning ? T(size)(*y) : *y;
  const T(V) doubled = odd ? T(plus)(a, a) : T(times)(a, two);
  *x = T(fused)(T(minus)(a, b), T(plus)(a, b), cx);
  *y = T(fused)(doubled, b, cy);
}

/** Not fractal_is_out, of all lanes. */
LANE T(M) T(within)(T(V) x, T(V) y) {
  return T(less)(T(fused)(x, x, T(times)(y, y)), T(all)((R)4));
}

/** fractal_is_interior of all lanes. */
LANE T(M) T(interior)(T(V) cx, T(V) cy) {
  const R margin = FRACTAL_INTERIOR_MARGIN(R);
  const T(V) y2 = T(times)(cy, cy);
  const T(V) u = T(minus)(cx, T(all)((R)0.25)), v = T(plus)(cx, T(all)((R)1));
  const T(V) q = T(fused)(u, u, y2);
  const T(V) edge = T(fused)(T(all)((R)0.25), y2, T(all)(-margin));
  return T(either)(T(less)(T(times)(q, T(plus)(q, u)), edge),
                   T(less)(T(fused)(v, v, y2), T(all)((R)0.0625 - margin)));
}

/** Not fractal_is_wild, of all lanes. */
LANE T(M) T(tame)(T(V) cx, T(V) cy) {
  const R edge = sizeof(R) == 8 ? (R)(4 - 4e-9) : (R)(4 - 4e-5);
  return T(less)(T(fused)(cx, cx, T(times)(cy, cy)), T(all)(edge));
}

/**
 * Test and step until no lane is in or rounds are over; steps counts those of each lane up to the
 * one that is out.
 * @return rounds done
 */
LANE int64_t T(follow)(T(flock) * f, int64_t rounds, const bool burning, const R two_) {
  const T(V) two = T(all)(two_);
  int64_t r = 0;
  UNROLL for (int v = 0; v < FEW; v++) f->steps[v] = T(none)();
  for (; r < rounds; r++) {
    T(M) any = T(below)(0);
    UNROLL for (int v = 0; v < FEW; v++) {
      f->in[v] = T(both)(f->in[v], T(within)(f->x[v], f->y[v]));
      f->steps[v] = T(count)(f->steps[v], f->in[v]);
      any = T(either)(any, f->in[v]);
    }
    if (T(bits)(any) == 0) break;
    UNROLL for (int v = 0; v < FEW; v++)
        T(step)(&f->x[v], &f->y[v], f->cx[v], f->cy[v], burning, true, two);
  }
  return r;
}

/** Blocks of steps of all lanes until one leaves, one repeats itself, or an event is due. */
LANE void T(blocks)(T(paint_state) * s, const bool burning, const bool periodic) {
  const T(V) two = T(all)(s->two);
  const unsigned full = T(bits)(T(below)(T(W)));
  T(V) x[FLY], y[FLY], cx[FLY], cy[FLY];
  const int64_t event = s->end < s->saves ? s->end : s->saves;
  unsigned stuck;
  T(M) in;
  UNROLL for (int v = 0; v < FLY; v++) {
    x[v] = T(load)(s->x + v * T(W)), y[v] = T(load)(s->y + v * T(W));
    cx[v] = T(load)(s->cx + v * T(W)), cy[v] = T(load)(s->cy + v * T(W));
  }
  do {
    UNROLL for (int v = 0; v < FLY; v++) {
      T(store)(s->x0 + v * T(W), x[v]);
      T(store)(s->y0 + v * T(W), y[v]);
    }
    KEEP;
    _Pragma("GCC unroll 1") for (int k = 0; k < BLOCK; k += 4) {
      UNROLL for (int u = 0; u < 4; u++) UNROLL for (int v = 0; v < FLY; v++)
          T(step)(&x[v], &y[v], cx[v], cy[v], burning, u & 1, two);
    }
    in = T(below)(T(W));
    stuck = 0;
    UNROLL for (int v = 0; v < FLY; v++) {
      in = T(both)(in, T(within)(x[v], y[v]));
      if (periodic) stuck |= T(same)(x[v], s->x1 + v * T(W), y[v], s->y1 + v * T(W));
    }
    s->now++;
  } while (T(bits)(in) == full && stuck == 0 && s->now < event);
  UNROLL for (int v = 0; v < FLY; v++) {
    T(store)(s->x + v * T(W), x[v]);
    T(store)(s->y + v * T(W), y[v]);
    s->out[v] = full & ~T(bits)(T(within)(x[v], y[v]));
    s->stuck[v] =
        periodic ? T(same)(x[v], s->x1 + v * T(W), y[v], s->y1 + v * T(W)) & ~s->out[v] : 0;
  }
}

static __attribute__((noinline)) void T(blocks_quadratic)(T(paint_state) * s) {
  T(blocks)(s, false, false);
}
static __attribute__((noinline)) void T(blocks_quadratic_periodic)(T(paint_state) * s) {
  T(blocks)(s, false, true);
}
static __attribute__((noinline)) void T(blocks_burning)(T(paint_state) * s) {
  T(blocks)(s, true, false);
}
static __attribute__((noinline)) void T(blocks_burning_periodic)(T(paint_state) * s) {
  T(blocks)(s, true, true);
}

static void T(run)(T(paint_state) * s) {
  const bool burning = s->p->set == FRACTAL_BURNING_SHIP;
  if (burning && s->p->periodicity)
    T(blocks_burning_periodic)(s);
  else if (burning)
    T(blocks_burning)(s);
  else if (s->p->periodicity)
    T(blocks_quadratic_periodic)(s);
  else
    T(blocks_quadratic)(s);
}

/* ------------------------------------------------------------------ plain loops */

LANE void T(plain_of)(const fractal_params *p, const fractal_piece *piece, const int set) {
  fractal_params q = *p;
  const R *x = piece->x, *y = piece->y;
  q.set = set;
  for (int64_t i = 0; i < piece->n; i++) {
    const int64_t k = T(fractal_plain)(&q, x[i], piece->one_y ? y[0] : y[i]);
    if (p->value_type == TSL_U16)
      ((uint16_t *)piece->out)[i] = (uint16_t)k;
    else
      ((uint32_t *)piece->out)[i] = (uint32_t)k;
  }
}

static void T(plain)(const fractal_params *p, const fractal_piece *piece) {
  if (p->set == FRACTAL_MANDELBROT) T(plain_of)(p, piece, FRACTAL_MANDELBROT);
  if (p->set == FRACTAL_JULIA) T(plain_of)(p, piece, FRACTAL_JULIA);
  if (p->set == FRACTAL_BURNING_SHIP) T(plain_of)(p, piece, FRACTAL_BURNING_SHIP);
}

static void T(textbook)(const fractal_params *p, const fractal_piece *piece) {
  const R *x = piece->x, y = *(const R *)piece->y;
  for (int64_t i = 0; i < piece->n; i++) {
    R u = 0, v = 0;
    int64_t k = 1;
    for (; k < p->maxiter && u * u + v * v < 4; k++) {
      const R old = u;
      u = u * u - v * v + x[i];
      v = 2 * old * v + y;
    }
    if (p->value_type == TSL_U16)
      ((uint16_t *)piece->out)[i] = (uint16_t)(k < p->maxiter ? k : 0);
    else
      ((uint32_t *)piece->out)[i] = (uint32_t)(k < p->maxiter ? k : 0);
  }
}

static double T(peak)(int64_t rounds) {
  enum { CHAINS = 12 };
  volatile R start = (R)0.5;
  volatile R sink = 0;
  T(V) a[CHAINS];
  R first[T(W)];
  const T(V) b = T(all)(start), c = T(all)(start * start);
  UNROLL for (int v = 0; v < CHAINS; v++) a[v] = T(all)(start + (R)v);
  for (int64_t r = 0; r < rounds; r++) {
    UNROLL for (int v = 0; v < CHAINS; v++) a[v] = T(fused)(a[v], b, c);
  }
  UNROLL for (int v = 1; v < CHAINS; v++) a[0] = T(plus)(a[0], a[v]);
  T(store)(first, a[0]);
  sink = first[0];
  (void)sink;
  return 2.0 * CHAINS * T(W) * (double)rounds;
}
