// Plots error against bytes.
#pragma once

#include <string>
#include <vector>

#include "tools/codec/measure.h"

namespace torus::tools {

// An SVG document, readable on light and dark backgrounds: a labelled point for each codec, with
// bits per value on the x axis and the signal-to-noise ratio in dB on the y axis. Leaves out codecs
// that are lossless or refused everything.
std::string ErrorPicture(const std::vector<CodecMeasurement>& measured);

}  // namespace torus::tools
