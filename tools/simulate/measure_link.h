// Measures how long messages take over an emulated link, and compares that with the link's model.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::tools {

struct LinkTime {
  std::string link;
  size_t bytes = 0;
  double expected = 0, measured = 0;  // seconds; the median of several
};

// Sends messages of each of `sizes` over each of `links` (ParseLink) from rank 0 to rank 1, one at
// a time, and measures the seconds from before the send until the receiver's wait returns. All
// ranks of `world` call it: two or more, on one host, over any transport. Rank 1 gets the times in
// the order of links, then sizes; the others get nothing.
std::vector<LinkTime> MeasureLinks(parallel::Transport& world,
                                   const std::vector<std::string>& links,
                                   const std::vector<size_t>& sizes);

// The same for five links from 1 ms and 5 Gbps to 50 ms and 100 Mbps, two of them limited by a
// window, and messages of 1 KB to 64 MB. Rank 1 prints the times and, last, the largest error.
void PrintLinks(parallel::Transport& world, std::ostream& out);

}  // namespace torus::tools
