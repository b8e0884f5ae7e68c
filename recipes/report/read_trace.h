// The events of a trace.json, as trace::WriteChromeTrace writes it.
#pragma once

#include <string>
#include <vector>

#include "runtime/trace.h"

namespace torus::recipes {

// Times are from the first event. BadInput naming the file where it is no such trace.
std::vector<trace::Event> ReadChromeTrace(const std::string& path);

}  // namespace torus::recipes
