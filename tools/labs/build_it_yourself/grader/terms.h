// The values of the labs "ring" and "buckets". The term of rank r of n is n s 4^r, where s depends
// only on the element. So the mean is s times a sum of 4^r, which shows whose terms are in it, and
// how often.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

namespace torus::tools::labs {

inline int64_t FourTo(int rank) { return int64_t{1} << (2 * rank); }

// Within what a division and a product with 1 / n differ by: both round within an ulp.
inline bool Near(float got, float want) {
  return std::abs(got - want) <= 0x1p-22F * std::abs(want);
}

// Says of a mean `got` of an element with this s how often it has each rank's term, where that is
// not as often as `wanted` says.
std::string WrongTerms(float got, int s, int ranks, const std::function<int(int rank)>& wanted);

}  // namespace torus::tools::labs
