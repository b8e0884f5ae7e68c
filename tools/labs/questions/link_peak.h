// The peak bandwidth of a link between two ranks, to compare with what a collective reaches.
#pragma once

#include <string>
#include <vector>

namespace torus::labs {

// Bytes per second of one long message from rank 0 to rank 1: of the emulated link between them if
// `links` has one, otherwise measured between two threads of this process as the best of several
// messages.
double LinkPeak(const std::vector<std::string>& links);

}  // namespace torus::labs
