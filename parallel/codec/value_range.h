// ValueRange: the minimum and maximum of many values, and whether all are finite. Highway picks the
// vector width; every width and team size gives the same bits.
#pragma once

#include <span>

namespace torus::parallel {

struct ValueRange {
  float least = 0, greatest = 0;  // never -0; 0 if there are no values
  bool finite = true;             // if false, the other two are invalid

  float magnitude() const { return -least > greatest ? -least : greatest; }
};

// Runs on the calling thread's team.
ValueRange RangeOf(std::span<const float> values);

}  // namespace torus::parallel
