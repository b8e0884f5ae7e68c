// Reads the events of a trace.json that trace::WriteChromeTrace wrote.
#pragma once

#include <string>
#include <vector>

#include "runtime/trace.h"

namespace torus::recipes {

// Times count from the first event. Throws BadInput, naming the file, if it is not such a trace.
std::vector<trace::Event> ReadChromeTrace(const std::string& path);

}  // namespace torus::recipes
