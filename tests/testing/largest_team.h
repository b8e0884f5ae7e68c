// How many threads a work takes, where cores are too few to show it by time.
#pragma once

#include <functional>

namespace torus::testing {

// The threads of the largest parallel region that `work` starts on the calling thread; 1: it starts
// none.
int LargestTeamOf(const std::function<void()>& work);

}  // namespace torus::testing
