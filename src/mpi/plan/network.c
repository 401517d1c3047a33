/* Binomial tree or scatter and all-gather, whichever is faster. */
#include "network.h"

#include <math.h>

double tsl_network_bcast(const tsl_network *network, int nodes, double bytes) {
  const double transfer = bytes / network->bandwidth;
  double rounds = 0;
  if (bytes <= 0) return 0;
  while (ldexp(1, (int)rounds) < nodes) rounds++;
  const double tree = rounds * tsl_network_message(network, bytes);
  const double parts = 2 * (rounds * network->latency + transfer * (nodes - 1) / nodes);
  return fmin(tree, parts);
}
