/* libint2's C++ interface is seen here alone; no exception leaves this file. */
#include "xc_integrals.h"

#include "parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <libint2.hpp>

static_assert(XC_MAX_L <= LIBINT2_MAX_AM_eri, "libint2 was built with too low quartets");
static_assert(XC_MAX_L <= LIBINT2_MAX_AM_3eri, "libint2 was built with too low triples");
static_assert(XC_MAX_L <= LIBINT2_MAX_AM_2eri, "libint2 was built with too low pairs");
static_assert(XC_MAX_L <= LIBINT2_MAX_AM_eri1, "libint2 was built with too low derivatives");
static_assert(XC_MAX_L <= LIBINT2_MAX_AM_2eri1, "libint2 was built with too low derivatives");

using libint2::BraKet;
using libint2::Engine;
using libint2::Operator;
using libint2::Shell;
using libint2::ShellPair;

struct xc_integrals {
  std::vector<Shell> orbital, fitting;
  std::vector<ShellPair> pairs;     // a (a + 1) / 2 + b, b <= a
  std::vector<ShellPair> fit_pairs; // of a fitting shell with the unit shell
};

struct xc_engine {
  const xc_integrals *integrals;
  Engine engine;
  bool separated; // erf(omega r) / r
};

namespace {

std::once_flag started;

// Primitive pairs below this are left out whatever precision an engine has.
const double ln_pair_limit = std::log(1e-20);

// The library's default judges primitives as if they were s functions, which are smaller by
// |PA|^la |PB|^lb than those of shells of high l far apart.
const auto screening = libint2::ScreeningMethod::Conservative;

Shell to_library(const xc_shell &s) {
  libint2::svector<double> exponents(s.exponent, s.exponent + s.n);
  libint2::svector<double> coefficients(s.coefficient, s.coefficient + s.n);
  return Shell(std::move(exponents), {{s.l, s.spherical != 0 && s.l > 0, std::move(coefficients)}},
               {{s.at[0], s.at[1], s.at[2]}}, false);
}

void fill(const xc_basis *basis, std::vector<Shell> &shells) {
  shells.reserve(static_cast<size_t>(basis->n_shells));
  for (int64_t k = 0; k < basis->n_shells; k++) shells.push_back(to_library(basis->shells[k]));
}

// Run work and turn what it throws into an error.
template <typename Work> tsl_err guarded(const char *what, Work work) {
  tsl_err err = TSL_OK;
  try {
    work();
  } catch (const std::bad_alloc &) {
    TSL_FAIL(TSL_ERR_MEMORY, "%s: no host memory", what);
  } catch (const std::exception &e) {
    TSL_FAIL(TSL_ERR_INTERNAL, "%s: libint2: %s", what, e.what());
  }
done:
  return err;
}

// Pairs of rows [lo, hi) of shells.
tsl_err fill_rows(void *context, int, int64_t lo, int64_t hi) {
  xc_integrals &all = *static_cast<xc_integrals *>(context);
  return guarded("pairs of shells", [&] {
    for (size_t a = static_cast<size_t>(lo); a < static_cast<size_t>(hi); a++)
      for (size_t b = 0; b <= a; b++)
        all.pairs[a * (a + 1) / 2 + b] =
            ShellPair(all.orbital[a], all.orbital[b], ln_pair_limit, screening);
  });
}

tsl_err check(const xc_basis *basis) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < basis->n_shells; k++) {
    const xc_shell &s = basis->shells[k];
    if (s.l < 0 || s.l > XC_MAX_L || s.n < 1 || s.n > XC_MAX_PRIMITIVES)
      TSL_FAIL(TSL_ERR_INPUT,
               "shell %lld: l = %d with %d primitives; at most %d and %d are allowed",
               static_cast<long long>(k), static_cast<int>(s.l), static_cast<int>(s.n),
               static_cast<int>(XC_MAX_L), static_cast<int>(XC_MAX_PRIMITIVES));
  }
done:
  return err;
}

// An engine takes memory for the fourth power of the primitives: what the shells need, no more.
struct Reach {
  size_t primitives = 1;
  int l = 0;
  void over(const std::vector<Shell> &shells) {
    for (const Shell &shell : shells) {
      primitives = std::max(primitives, shell.nprim());
      l = std::max(l, shell.contr[0].l);
    }
  }
};

const ShellPair *pair_of(const xc_integrals *all, int64_t a, int64_t b) {
  return &all->pairs[static_cast<size_t>(a * (a + 1) / 2 + b)];
}

const Shell &orbital(const xc_engine *e, int64_t k) {
  return e->integrals->orbital[static_cast<size_t>(k)];
}

const Shell &fitting(const xc_engine *e, int64_t k) {
  return e->integrals->fitting[static_cast<size_t>(k)];
}

const ShellPair *fit_pair(const xc_engine *e, int64_t k) {
  return &e->integrals->fit_pairs[static_cast<size_t>(k)];
}

// Quartets of either operator, or their derivatives, in the engine's results.
template <int order> void make_quartet(xc_engine *e, int64_t a, int64_t b, int64_t c, int64_t d) {
  const Shell &sa = orbital(e, a), &sb = orbital(e, b), &sc = orbital(e, c), &sd = orbital(e, d);
  const ShellPair *bra = pair_of(e->integrals, a, b), *ket = pair_of(e->integrals, c, d);
  if (e->separated)
    e->engine.compute2<Operator::erf_coulomb, BraKet::xx_xx, order>(sa, sb, sc, sd, bra, ket);
  else
    e->engine.compute2<Operator::coulomb, BraKet::xx_xx, order>(sa, sb, sc, sd, bra, ket);
}

// Results of some centres; the library makes all or none.
bool take(const xc_engine *e, std::initializer_list<size_t> centres, const double **blocks) {
  const auto &made = e->engine.results();
  if (made[0] == nullptr) return false;
  for (const size_t centre : centres)
    for (size_t x = 0; x < 3; x++) *blocks++ = made[3 * centre + x];
  return true;
}

} // namespace

extern "C" tsl_err xc_integrals_create(const xc_basis *orbital, const xc_basis *fitting,
                                       xc_integrals **out) {
  tsl_err err = TSL_OK;
  std::unique_ptr<xc_integrals> made;
  *out = nullptr;
  TSL_TRY(check(orbital));
  if (fitting != nullptr) TSL_TRY(check(fitting));
  TSL_TRY(guarded("shells for integrals", [&] {
    std::call_once(started, [] { libint2::initialize(); });
    made = std::make_unique<xc_integrals>();
    fill(orbital, made->orbital);
    if (fitting != nullptr) fill(fitting, made->fitting);
    made->pairs.resize(made->orbital.size() * (made->orbital.size() + 1) / 2);
    for (const Shell &shell : made->fitting)
      made->fit_pairs.emplace_back(shell, Shell::unit(), ln_pair_limit, screening);
  }));
  TSL_TRY(tsl_parallel(static_cast<int64_t>(made->orbital.size()), 1, fill_rows, made.get()));
  *out = made.release();
done:
  return err;
}

extern "C" void xc_integrals_destroy(xc_integrals **integrals) {
  delete *integrals;
  *integrals = nullptr;
}

extern "C" tsl_err xc_engine_create(const xc_integrals *integrals, xc_repulsion kind, double omega,
                                    double precision, xc_engine **out) {
  static const BraKet brakets[XC_N_REPULSIONS] = {BraKet::xx_xx, BraKet::xs_xx, BraKet::xs_xs,
                                                  BraKet::xx_xx, BraKet::xx_xx, BraKet::xs_xs};
  tsl_err err = TSL_OK;
  *out = nullptr;
  TSL_TRY(guarded("engine for integrals", [&] {
    Reach reach;
    const int order = kind >= XC_QUARTET_GRADIENTS ? 1 : 0;
    const int of = kind - XC_QUARTET_GRADIENTS * order;
    if (of != XC_DOUBLES) reach.over(integrals->orbital);
    if (of != XC_QUARTETS) reach.over(integrals->fitting);
    if (omega > 0) {
      Engine engine(Operator::erf_coulomb, reach.primitives, reach.l, order, precision, omega,
                    brakets[kind]);
      engine.set(screening);
      *out = new xc_engine{integrals, std::move(engine), true};
    } else {
      Engine engine(Operator::coulomb, reach.primitives, reach.l, order, precision,
                    libint2::operator_traits<Operator::coulomb>::default_params(), brakets[kind]);
      engine.set(screening);
      *out = new xc_engine{integrals, std::move(engine), false};
    }
  }));
done:
  return err;
}

extern "C" void xc_engine_destroy(xc_engine **engine) {
  delete *engine;
  *engine = nullptr;
}

extern "C" void xc_engine_precision(xc_engine *e, double precision) {
  e->engine.set_precision(precision);
}

extern "C" const double *xc_engine_quartet(xc_engine *e, int64_t a, int64_t b, int64_t c,
                                           int64_t d) {
  make_quartet<0>(e, a, b, c, d);
  return e->engine.results()[0];
}

extern "C" const double *xc_engine_triple(xc_engine *e, int64_t p, int64_t m, int64_t n) {
  e->engine.compute2<Operator::coulomb, BraKet::xs_xx, 0>(
      fitting(e, p), Shell::unit(), orbital(e, m), orbital(e, n), fit_pair(e, p),
      pair_of(e->integrals, m, n));
  return e->engine.results()[0];
}

extern "C" const double *xc_engine_double(xc_engine *e, int64_t p, int64_t q) {
  e->engine.compute2<Operator::coulomb, BraKet::xs_xs, 0>(
      fitting(e, p), Shell::unit(), fitting(e, q), Shell::unit(), fit_pair(e, p), fit_pair(e, q));
  return e->engine.results()[0];
}

extern "C" bool xc_engine_quartet_gradient(xc_engine *e, int64_t a, int64_t b, int64_t c, int64_t d,
                                           const double *blocks[9]) {
  make_quartet<1>(e, a, b, c, d);
  return take(e, {0, 1, 2}, blocks);
}

extern "C" bool xc_engine_triple_gradient(xc_engine *e, int64_t p, int64_t m, int64_t n,
                                          const double *blocks[6]) {
  e->engine.compute2<Operator::coulomb, BraKet::xx_xx, 1>(
      fitting(e, p), Shell::unit(), orbital(e, m), orbital(e, n), fit_pair(e, p),
      pair_of(e->integrals, m, n));
  return take(e, {0, 2}, blocks);
}

extern "C" bool xc_engine_double_gradient(xc_engine *e, int64_t p, int64_t q,
                                          const double *blocks[3]) {
  e->engine.compute2<Operator::coulomb, BraKet::xs_xs, 1>(
      fitting(e, p), Shell::unit(), fitting(e, q), Shell::unit(), fit_pair(e, p), fit_pair(e, q));
  return take(e, {0}, blocks);
}
