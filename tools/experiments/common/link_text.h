// Formats links as flags take them.
#pragma once

#include <string>

namespace torus::experiments {

// "354us,331Mbps[,window=3MB]", as parallel::ParseLink reads it. `window` is in bytes; 0: none.
std::string LinkText(double latency_seconds, double bits_a_second, double window = 0);

}  // namespace torus::experiments
