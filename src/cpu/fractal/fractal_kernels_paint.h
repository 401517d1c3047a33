/* The long run of fractal_kernels.h for one type: pixels of all pieces pass the first steps in
 * order, side by side; survivors wait in fresh until a lane of the long run is free. Which lanes
 * left is seen once for each block; their states before the block wait in left, and are followed
 * step by step when it is full. No guard, as fractal_kernels_body.h. */

/** Steps of a unit. */
LANE void T(bill)(T(paint_state) * s, int64_t unit, int64_t steps) {
  if (s->counts->work != NULL) s->counts->work[unit] += (double)steps;
}

/** Store a value, k >= maxiter meaning inside. @return the value */
LANE uint32_t T(put)(const T(paint_state) * s, void *out, int64_t k) {
  const uint32_t value = k < s->p->maxiter ? (uint32_t)k : 0;
  if (s->p->value_type == TSL_U16)
    *(uint16_t *)out = (uint16_t)value;
  else
    *(uint32_t *)out = value;
  return value;
}

/** What is summed over all values. */
LANE void T(book)(T(paint_state) * s, uint64_t sum, uint64_t inside) {
  s->counts->totals[FRACTAL_TOTAL_VALUES] += sum;
  s->counts->totals[FRACTAL_TOTAL_INSIDE] += inside;
}

/** Count the steps of those that left, and empty the queue. */
static void T(left_count)(T(paint_state) * s) {
  T(queue) *const q = &s->left;
  T(flock) f;
  T(Int) n[T(FEW_LANES)];
  uint64_t sum = 0, inside = 0;
  UNROLL for (int v = 0; v < FEW; v++) {
    f.x[v] = T(load)(q->x + v * T(W)), f.y[v] = T(load)(q->y + v * T(W));
    f.cx[v] = T(load)(q->cx + v * T(W)), f.cy[v] = T(load)(q->cy + v * T(W));
    f.in[v] = T(below)(q->n - v * T(W));
  }
  if (s->p->set == FRACTAL_BURNING_SHIP)
    (void)T(follow)(&f, BLOCK, true, s->two);
  else
    (void)T(follow)(&f, BLOCK, false, s->two);
  UNROLL for (int v = 0; v < FEW; v++) T(store_counts)(n + v * T(W), f.steps[v]);
  for (int k = 0; k < q->n; k++) {
    const int64_t all = q->steps[k] + n[k];
    const uint32_t value = T(put)(s, q->to[k].out, all + 1);
    T(bill)(s, q->to[k].unit, all - s->first_steps + BLOCK);
    sum += value;
    inside += value == 0;
  }
  T(book)(s, sum, inside);
  q->n = 0;
}

/* ------------------------------------------------------------------ the first steps */

static void *T(place)(const T(paint_state) * s, int64_t i) {
  const fractal_piece *piece = &s->piece;
  const int64_t place = piece->place == NULL ? i : piece->place[i];
  return (char *)piece->out + place * (s->p->value_type == TSL_U16 ? 2 : 4);
}

/** Coordinates of n pixels of the piece from at on: its own arrays, or, where n is less than a
 *  flock or the ordinates are one, copies that are padded with the last pixel. */
LANE void T(points)(const T(paint_state) * s, int64_t n, R px_[], R py_[], const R **px,
                    const R **py) {
  const R *x = (const R *)s->piece.x + s->at;
  const R *y = (const R *)s->piece.y + (s->piece.one_y ? 0 : s->at);
  *px = n < T(FEW_LANES) ? px_ : x;
  *py = n < T(FEW_LANES) || s->piece.one_y ? py_ : y;
  if (*px == px_)
    for (int64_t i = 0; i < T(FEW_LANES); i++) px_[i] = x[i < n ? i : n - 1];
  if (*py == py_ && s->piece.one_y)
    for (int64_t i = 0; i < T(FEW_LANES); i++) py_[i] = y[0];
  else if (*py == py_)
    for (int64_t i = 0; i < T(FEW_LANES); i++) py_[i] = y[i < n ? i : n - 1];
}

/** fractal_start of a flock. */
LANE void T(start)(const fractal_params *p, const int set, const R *px, const R *py, T(flock) * f) {
  const bool julia = set == FRACTAL_JULIA;
  UNROLL for (int v = 0; v < FEW; v++) {
    const T(V) x = T(load)(px + v * T(W)), y = T(load)(py + v * T(W));
    f->x[v] = julia ? x : T(all)(0);
    f->y[v] = julia ? y : T(all)(0);
    f->cx[v] = julia ? T(all)((R)p->c[0]) : x;
    f->cy[v] = julia ? T(all)((R)p->c[1]) : y;
  }
}

/** Store the values [n] of pixels that are done; 0 for survivors, which are not counted here. */
LANE void T(first_put)(T(paint_state) * s, const T(Int) * values, int64_t n, int64_t survivors) {
  uint64_t sum = 0, inside = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += (uint64_t)values[i];
    inside += values[i] == 0;
  }
  if (s->piece.place != NULL)
    for (int64_t i = 0; i < n; i++) {
      void *const out = T(place)(s, s->at + i);
      if (s->p->value_type == TSL_U16)
        *(uint16_t *)out = (uint16_t)values[i];
      else
        *(uint32_t *)out = (uint32_t)values[i];
    }
  else if (s->p->value_type == TSL_U16) {
    uint16_t *const out = (uint16_t *)s->piece.out + s->at;
    for (int64_t i = 0; i < n; i++) out[i] = (uint16_t)values[i];
  } else {
    uint32_t *const out = (uint32_t *)s->piece.out + s->at;
    for (int64_t i = 0; i < n; i++) out[i] = (uint32_t)values[i];
  }
  T(book)(s, sum, inside - (uint64_t)survivors);
}

/** A survivor that does not wait: wild, or at the end of its steps, where its 0 is stored. */
static void T(survivor_put)(T(paint_state) * s, int64_t i, R px, R py) {
  int64_t value = 0;
  if (s->first_steps < s->p->maxiter - 1) {
    value = T(fractal_plain)(s->p, px, py);
    (void)T(put)(s, T(place)(s, s->at + i), value);
    T(bill)(s, s->piece.unit, 8 * (value == 0 ? s->p->maxiter : value));
  }
  T(book)(s, (uint64_t)value, value == 0);
}

/** Survivors to fresh, which is empty. */
LANE void T(survive)(T(paint_state) * s, const T(flock) * f, const R *px, const R *py) {
  T(fresh) *const fresh = &s->fresh;
  const bool none_waits = s->p->wild || s->first_steps >= s->p->maxiter - 1;
  uint64_t now = 0;
  fresh->at = s->at;
  UNROLL for (int v = 0; v < FEW; v++) {
    const T(M) waits = none_waits ? T(below)(0) : T(both)(f->in[v], T(tame)(f->cx[v], f->cy[v]));
    fresh->waits |= (uint64_t)T(bits)(waits) << v * T(W);
    now |= (uint64_t)T(bits)(T(but)(f->in[v], waits)) << v * T(W);
    T(store)(fresh->x + v * T(W), f->x[v]), T(store)(fresh->y + v * T(W), f->y[v]);
    T(store)(fresh->cx + v * T(W), f->cx[v]), T(store)(fresh->cy + v * T(W), f->cy[v]);
  }
  for (; now != 0; now &= now - 1) {
    const int i = __builtin_ctzll(now);
    T(survivor_put)(s, i, px[i], py[i]);
  }
}

/** The first steps of the next pixels of the piece. */
LANE void T(first_of)(T(paint_state) * s, const int set, const bool interior) {
  const int64_t left = s->piece.n - s->at, n = left < T(FEW_LANES) ? left : T(FEW_LANES);
  T(flock) f;
  R px_[T(FEW_LANES)], py_[T(FEW_LANES)];
  const R *px, *py;
  T(M) followed[FEW];
  T(Int) values[T(FEW_LANES)];
  int64_t survivors = 0;
  T(points)(s, n, px_, py_, &px, &py);
  T(start)(s->p, set, px, py, &f);
  UNROLL for (int v = 0; v < FEW; v++) {
    f.in[v] = T(below)(n - v * T(W));
    if (interior) f.in[v] = T(but)(f.in[v], T(interior)(f.cx[v], f.cy[v]));
    followed[v] = f.in[v];
  }
  const int64_t rounds = T(follow)(&f, s->first_steps, set == FRACTAL_BURNING_SHIP, s->two);
  UNROLL for (int v = 0; v < FEW; v++) {
    T(store_counts)(values + v * T(W), T(next)(f.steps[v], T(but)(followed[v], f.in[v])));
    survivors += __builtin_popcount(T(bits)(f.in[v]));
  }
  T(first_put)(s, values, n, survivors);
  T(bill)(s, s->piece.unit, 2 * (rounds + 1) * n);
  if (survivors > 0) T(survive)(s, &f, px, py);
  s->at += n;
}

static void T(first)(T(paint_state) * s) {
  if (s->p->set == FRACTAL_JULIA)
    T(first_of)(s, FRACTAL_JULIA, false);
  else if (s->p->set == FRACTAL_BURNING_SHIP)
    T(first_of)(s, FRACTAL_BURNING_SHIP, false);
  else if (s->p->interior)
    T(first_of)(s, FRACTAL_MANDELBROT, true);
  else
    T(first_of)(s, FRACTAL_MANDELBROT, false);
}

/* ------------------------------------------------------------------ lanes */

/** Have somebody wait; false when the source is dry. */
static bool T(more)(T(paint_state) * s) {
  while (s->fresh.waits == 0 && !s->dry) {
    if (s->at < s->piece.n)
      T(first)(s);
    else {
      s->at = 0;
      s->dry = !s->source->next(s->source, &s->piece);
      if (s->dry) s->piece.n = 0;
    }
  }
  return s->fresh.waits != 0;
}

/** The lane rests: z = c = 0 never leaves. */
static void T(lane_idle)(T(paint_state) * s, int lane) {
  s->x[lane] = s->y[lane] = s->cx[lane] = s->cy[lane] = 0;
  s->to[lane] = (target){NULL, 0};
  s->begun[lane] = s->save[lane] = INT64_MAX / 2;
  s->active--;
}

/** Survivor k of fresh goes to the lane, its numbers apart. */
LANE void T(lane_begin)(T(paint_state) * s, int lane, int k) {
  s->to[lane] = (target){T(place)(s, s->fresh.at + k), s->piece.unit};
  s->begun[lane] = s->now;
  s->end = s->now + s->blocks < s->end ? s->now + s->blocks : s->end;
  s->save[lane] = s->now + 1;
}

/** Give the lane the next survivor, if any. */
LANE void T(refill)(T(paint_state) * s, int lane) {
  T(fresh) *const f = &s->fresh;
  memset(&s->x1[lane], 0xff, sizeof(R)); /* no state is that one */
  if (f->waits == 0 && !T(more)(s)) {
    T(lane_idle)(s, lane);
    return;
  }
  const int k = __builtin_ctzll(f->waits);
  f->waits &= f->waits - 1;
  s->x[lane] = f->x[k], s->y[lane] = f->y[k];
  s->cx[lane] = f->cx[k], s->cy[lane] = f->cy[k];
  T(lane_begin)(s, lane, k);
}

/** The same for all lanes of a vector; false when the next survivors do not lie side by side. */
static bool T(refill_vector)(T(paint_state) * s, int v) {
  T(fresh) *const f = &s->fresh;
  const uint64_t full = T(bits)(T(below)(T(W)));
  if (f->waits == 0 && !T(more)(s)) return false;
  const int k = __builtin_ctzll(f->waits) / T(W) * T(W), lane = v * T(W);
  if ((f->waits >> k & full) != full) return false;
  f->waits &= ~(full << k);
  T(store)(s->x + lane, T(load)(f->x + k)), T(store)(s->y + lane, T(load)(f->y + k));
  T(store)(s->cx + lane, T(load)(f->cx + k)), T(store)(s->cy + lane, T(load)(f->cy + k));
  memset(s->x1 + lane, 0xff, T(W) * sizeof(R));
  for (int l = 0; l < T(W); l++) T(lane_begin)(s, lane + l, k + l);
  return true;
}

static void T(lane_left)(T(paint_state) * s, int lane) {
  T(queue) *const q = &s->left;
  const int k = q->n++;
  q->x[k] = s->x0[lane], q->y[k] = s->y0[lane];
  q->cx[k] = s->cx[lane], q->cy[k] = s->cy[lane];
  q->steps[k] = s->first_steps + (s->now - 1 - s->begun[lane]) * BLOCK;
  q->to[k] = s->to[lane];
  T(refill)(s, lane);
  if (q->n == T(FEW_LANES)) T(left_count)(s);
}

/** The lane never leaves: its 0 is stored. */
LANE void T(lane_inside)(T(paint_state) * s, int lane) {
  T(bill)(s, s->to[lane].unit, (s->now - s->begun[lane]) * BLOCK);
  T(book)(s, 0, 1);
}

/** Lanes whose steps are over; and when the next may be. */
static void T(ends)(T(paint_state) * s) {
  int64_t first = INT64_MAX / 2;
  for (int v = 0; v < FLY; v++) {
    unsigned bits = 0;
    for (int l = 0; l < T(W); l++)
      bits |= (unsigned)(s->begun[v * T(W) + l] + s->blocks <= s->now) << l;
    for (unsigned rest = bits; rest != 0; rest &= rest - 1)
      T(lane_inside)(s, v * T(W) + __builtin_ctz(rest));
    if (bits == T(bits)(T(below)(T(W))) && T(refill_vector)(s, v)) continue;
    for (; bits != 0; bits &= bits - 1) T(refill)(s, v * T(W) + __builtin_ctz(bits));
  }
  for (int lane = 0; lane < T(FLY_LANES); lane++)
    first = s->begun[lane] < first ? s->begun[lane] : first;
  s->end = first + s->blocks;
}

/** Keep the states of lanes whose age has doubled since the last one was kept. */
static void T(keep)(T(paint_state) * s) {
  for (int lane = 0; lane < T(FLY_LANES); lane++) {
    const bool due = s->save[lane] <= s->now;
    s->x1[lane] = due ? s->x[lane] : s->x1[lane];
    s->y1[lane] = due ? s->y[lane] : s->y1[lane];
    s->save[lane] = due ? 2 * s->now - s->begun[lane] : s->save[lane];
  }
  s->saves = s->now + SAVES;
}

static void T(settle)(T(paint_state) * s) {
  for (int v = 0; v < FLY; v++) {
    for (unsigned bits = s->out[v]; bits != 0; bits &= bits - 1)
      T(lane_left)(s, v * T(W) + __builtin_ctz(bits));
    for (unsigned bits = s->stuck[v]; bits != 0; bits &= bits - 1) {
      T(lane_inside)(s, v * T(W) + __builtin_ctz(bits));
      T(refill)(s, v * T(W) + __builtin_ctz(bits));
    }
  }
  if (s->now >= s->end) T(ends)(s);
  if (s->now >= s->saves) T(keep)(s);
}

static void T(paint)(const fractal_params *p, fractal_source *source, fractal_counts *counts) {
  volatile R two = 2;
  T(paint_state) s __attribute__((aligned(64)));
  memset(&s, 0, sizeof s);
  s.p = p, s.source = source, s.counts = counts;
  s.two = two;
  s.first_steps = p->maxiter - 1 < BLOCK ? p->maxiter - 1 : BLOCK;
  s.blocks = (p->maxiter - 2 - s.first_steps + BLOCK - 1) / BLOCK;
  if (s.blocks < 1) s.blocks = 1;
  s.end = INT64_MAX;
  s.saves = p->periodicity ? SAVES : INT64_MAX;
  s.active = T(FLY_LANES);
  for (int lane = 0; lane < T(FLY_LANES); lane++) T(refill)(&s, lane);
  while (s.active > 0) {
    T(run)(&s);
    T(settle)(&s);
  }
  T(left_count)(&s);
}
