// The forms of `--cut auto`.
#pragma once

#include <string_view>

namespace torus::recipes {

// True for "auto", which cuts by measured times, and for "auto:50GFLOPS", which cuts by counted
// costs, with so many floating-point operations per second on each rank.
bool IsAutoCut(std::string_view cut);

// The operations per second in an automatic cut; 0 for "auto". Throws BadInput unless `cut` has one
// of these two forms, with a number above 0 before GFLOPS or TFLOPS.
double CountedRate(std::string_view cut);

}  // namespace torus::recipes
