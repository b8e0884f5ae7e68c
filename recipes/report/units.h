// Formats numbers for people to read.
#pragma once

#include <cstdint>
#include <string>

namespace torus::recipes {

// "512 B", "1.49 GiB".
std::string FormatBytes(uint64_t bytes);
// Rounded, with commas: "60,000".
std::string FormatCount(double value);
// "846 ms", "12.3 s", "2 min 58 s", "1 h 12 min".
std::string FormatSeconds(double seconds);

}  // namespace torus::recipes
