// Error against bytes as a picture.
#pragma once

#include <string>
#include <vector>

#include "tools/codec/measure.h"

namespace torus::tools {

// An SVG document, readable on light and dark ground: a named point for each codec, bits a value to
// the right and the signal-to-noise ratio in dB upwards. Those that lose nothing or carry nothing
// are left out.
std::string ErrorPicture(const std::vector<CodecMeasurement>& measured);

}  // namespace torus::tools
