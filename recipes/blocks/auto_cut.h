// What `--cut auto` says.
#pragma once

#include <string_view>

namespace torus::recipes {

// "auto": by times measured now; "auto:50GFLOPS": by counted costs, at so many floating-point
// operations a second of each rank.
bool IsAutoCut(std::string_view cut);

// Operations a second of an automatic cut; 0 for "auto". BadInput unless it is of these two forms,
// with a number above 0 before GFLOPS or TFLOPS.
double CountedRate(std::string_view cut);

}  // namespace torus::recipes
