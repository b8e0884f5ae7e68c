// What a link between two ranks can do, for the bandwidth that a collective reaches to be compared
// with.
#pragma once

#include <string>
#include <vector>

namespace torus::labs {

// Bytes a second of one long message from rank 0 to rank 1: of the emulated link that `links` make
// there, else as measured between two threads of this process, the best of several messages.
double LinkPeak(const std::vector<std::string>& links);

}  // namespace torus::labs
