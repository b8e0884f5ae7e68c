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

// Says of a wrong mean `got` of an element with this s which ranks' terms are in it and how often,
// and which are missing, where `wanted` says how often each should be. Also where it is a sum that
// is not divided by n.
std::string WrongTerms(float got, int s, int ranks, const std::function<int(int rank)>& wanted);

}  // namespace torus::tools::labs
