#include "parallel/transport/transport.h"

#include <numeric>

namespace torus::parallel {

std::vector<int> Transport::SameHost() const {
  std::vector<int> all(size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace torus::parallel
