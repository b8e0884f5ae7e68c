// The least and the greatest of many values, and whether all are finite; Highway picks the vector
// width, and every width and team gives the same bits.
#pragma once

#include <span>

namespace torus::parallel {

struct ValueRange {
  float least = 0, greatest = 0;  // never -0; 0 where there are no values
  bool finite = true;             // otherwise the two mean nothing

  float magnitude() const { return -least > greatest ? -least : greatest; }
};

// On the calling thread's team.
ValueRange RangeOf(std::span<const float> values);

}  // namespace torus::parallel
