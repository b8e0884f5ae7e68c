// The test data of the lab "buckets": gradients of a few parameters over some steps, their means,
// and when these must be ready. A gradient's elements are a rank's terms (terms.h), with an s that
// depends only on the element and the step.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "tools/labs/build_it_yourself/grader/dice.h"
#include "tools/labs/build_it_yourself/grader/rank_group.h"

namespace torus::tools::labs {

// A bucket: the parameters from `begin` to before `end`.
struct BucketCut {
  size_t begin = 0, end = 0;
  uint64_t bytes = 0;
};

struct BucketModel {
  // At most 8 ranks, so that sums are exact in float32. Every gradient comes, except those given to
  // LeaveOut.
  BucketModel(Dice& dice, int ranks, int steps, size_t bucket_floats, std::vector<size_t> elements);

  size_t total() const { return first.back(); }  // elements of all gradients
  void LeaveOut(int rank, int step, size_t parameter) { left_out.insert({rank, step, parameter}); }
  bool Comes(int rank, int step, size_t parameter) const;

  // Values of element i of a parameter.
  float Term(int rank, int step, size_t parameter, size_t i) const;
  float Mean(int step, size_t parameter, size_t i) const;
  int Scale(int step, size_t parameter, size_t i) const;

  std::vector<RankTask> Tasks() const;
  std::vector<BucketCut> Buckets() const;

  const int ranks, steps;
  const size_t bucket_bytes;
  const std::vector<size_t> elements;              // of each parameter
  std::vector<size_t> first;                       // its first element in the memory of all
  std::vector<std::vector<int64_t>> milliseconds;  // [rank][parameter]: time of its backward
  std::vector<int> scales;                         // s, 1 to 5, [step][element]
  std::set<std::tuple<int, int, size_t>> left_out;
};

struct BucketTimes {
  double all = 0;       // seconds until the last rank has finished the last step
  double backward = 0;  // of one step, on the slowest rank
  double sums = 0;      // of one step, one after the other
  // [rank][bucket]: when the last gradient of the bucket comes, in the first step.
  std::vector<std::vector<double>> full;
};

// Times on the virtual clock if every bucket's sum starts as early as possible and no gradient is
// left out.
BucketTimes TimesOf(const BucketModel& model, Link link);

}  // namespace torus::tools::labs
