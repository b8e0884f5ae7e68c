// Links as flags write them.
#pragma once

#include <string>

namespace torus::experiments {

// "354us,331Mbps[,window=3MB]": what parallel::ParseLink reads. `window` in bytes, 0: none.
std::string LinkText(double latency_seconds, double bits_a_second, double window = 0);

}  // namespace torus::experiments
