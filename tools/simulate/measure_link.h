// How long messages take over an emulated link, beside what its model says.
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
// a time, and takes the seconds from before the send to after the receiver's wait. Every rank of
// `world`, which has two or more on one host and any transport, calls this; rank 1 gets the times
// in the order of links, then sizes, the others nothing.
std::vector<LinkTime> MeasureLinks(parallel::Transport& world,
                                   const std::vector<std::string>& links,
                                   const std::vector<size_t>& sizes);

// The same over five links from 1 ms and 5 Gbps to 50 ms and 100 Mbps, two of them bound by a
// window, with 1 KB to 64 MB; rank 1 prints the times and, last, the largest error.
void PrintLinks(parallel::Transport& world, std::ostream& out);

}  // namespace torus::tools
