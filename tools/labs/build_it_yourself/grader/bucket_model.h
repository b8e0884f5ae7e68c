// What the lab "buckets" runs on: gradients of a few parameters over some steps, what must come of
// them, and when. Rank r's gradient is n s 4^r, where s depends on the element and the step alone:
// from the mean, s times a sum of 4^r, one can read which ranks' terms are in it, and how often.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "tools/labs/build_it_yourself/grader/dice.h"
#include "tools/labs/build_it_yourself/grader/rank_group.h"

namespace torus::tools::labs {

// Of a model with that many parameters; those from `begin` to before `end`.
struct BucketCut {
  size_t begin = 0, end = 0;
  uint64_t bytes = 0;
};

struct BucketModel {
  // Up to 8 ranks, so that sums are exact in float32. The bytes of a bucket are a whole number of
  // floats. Every gradient comes, until LeaveOut.
  BucketModel(Dice& dice, int ranks, int steps, size_t bucket_floats, std::vector<size_t> elements);

  size_t total() const { return first.back(); }  // elements of all gradients
  void LeaveOut(int rank, int step, size_t parameter) { left_out.insert({rank, step, parameter}); }
  bool Comes(int rank, int step, size_t parameter) const;

  // Of element i of a parameter.
  float Term(int rank, int step, size_t parameter, size_t i) const;
  float Mean(int step, size_t parameter, size_t i) const;
  int Scale(int step, size_t parameter, size_t i) const;

  std::vector<RankTask> Tasks() const;
  std::vector<BucketCut> Buckets() const;

  const int ranks, steps;
  const size_t bucket_bytes;
  const std::vector<size_t> elements;              // of each parameter
  std::vector<size_t> first;                       // element of each in the memory of all
  std::vector<std::vector<int64_t>> milliseconds;  // [rank][parameter] of its backward
  std::vector<int> scales;                         // s, 1 to 5, [step][element]
  std::set<std::tuple<int, int, size_t>> left_out;
};

struct BucketTimes {
  double all = 0;       // seconds until the last rank has finished the last step
  double backward = 0;  // of one step, on the slowest rank
  double sums = 0;      // of one step, one after the other
  // When the last gradient of each bucket comes in the first step: [rank][bucket].
  std::vector<std::vector<double>> full;
};

// On the virtual clock, where every bucket's sum begins as soon as it may; all gradients come.
BucketTimes TimesOf(const BucketModel& model, Link link);

}  // namespace torus::tools::labs
