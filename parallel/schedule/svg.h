// A simulated timeline as a picture.
#pragma once

#include <string>

#include "parallel/schedule/schedule.h"
#include "parallel/schedule/simulator.h"

namespace torus::parallel {

// An SVG document of its own, readable on light and dark ground: a row a rank, from 0 s on, with
// its actions coloured by kind and numbered by micro-batch where there is room; of several stages a
// rank the later ones are paler from above. Between the rows go the messages, activations below
// their sender and gradients above it, each from the beginning of its transfer to its arrival.
// BadInput for more than 2^16 actions: no browser shows them well.
std::string ToSvg(const Schedule& schedule, const Simulation& simulation);

}  // namespace torus::parallel
