// Measurements as lines of text.
#pragma once

#include <string>
#include <vector>

#include "tools/codec/measure.h"

namespace torus::tools {

// A line of headings and one for each codec, in columns.
std::string TableOf(const std::vector<CodecMeasurement>& measured);

}  // namespace torus::tools
