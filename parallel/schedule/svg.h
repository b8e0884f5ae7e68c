// Draws a simulated timeline as a picture.
#pragma once

#include <string>

#include "parallel/schedule/schedule.h"
#include "parallel/schedule/simulator.h"

namespace torus::parallel {

// Returns a complete SVG document, readable on light and dark backgrounds. Each rank has a row,
// from 0 s on, with its actions coloured by kind and numbered by micro-batch where there is room;
// on a rank with several stages, the upper part of the later stages' actions is paler, and larger
// the later the stage. Between the rows are the messages, from the beginning of a transfer to its
// arrival: activations below their sender, gradients above it. Throws BadInput for more than 2^16
// actions, which browsers do not show well.
std::string ToSvg(const Schedule& schedule, const Simulation& simulation);

}  // namespace torus::parallel
