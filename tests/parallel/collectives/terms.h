// What the ranks of these tests sum, and what must come out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "parallel/collectives/all_reduce.h"
#include "parallel/transport/in_process.h"

namespace torus::parallel::testing {

// Small whole numbers, so that floats add up exactly; different on every rank, and of a short
// period, so that a long sum is cheap to check under a sanitizer.
inline constexpr int64_t kPeriod = 101;

template <class T>
T Term(int rank, int64_t i) {
  return static_cast<T>((i * 7 + rank * 13) % kPeriod - 50);
}

template <class T>
std::vector<T> Repeat(const std::vector<T>& period, int64_t count) {
  std::vector<T> data(count);
  for (int64_t i = 0; i < count; i += kPeriod) {
    std::memcpy(&data[i], period.data(), std::min(kPeriod, count - i) * sizeof(T));
  }
  return data;
}

template <class T>
std::vector<T> Terms(int rank, int64_t count) {
  std::vector<T> period(kPeriod);
  for (int64_t i = 0; i < kPeriod; ++i) period[i] = Term<T>(rank, i);
  return Repeat(period, count);
}

// One rank's terms after the other's.
template <class T>
std::vector<T> Sums(int ranks, int64_t count) {
  std::vector<T> period(kPeriod, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    for (int64_t i = 0; i < kPeriod; ++i) period[i] += Term<T>(rank, i);
  }
  return Repeat(period, count);
}

// By the transport's own count, of collectives.
inline uint64_t SentBy(const Transport& transport) {
  uint64_t bytes = 0;
  for (int to = 0; to < transport.size(); ++to)
    bytes += transport.BytesSent(to, TagClass::kCollective);
  return bytes;
}

// Of ours: an engine needs a transport that has one.
inline std::vector<AllReduceAlgorithm> EveryAlgorithm() {
  std::vector<AllReduceAlgorithm> all;
  for (const std::string& name : AllReduceNames()) all.push_back(AllReduceByName(name));
  std::erase(all, AllReduceAlgorithm::kEngine);
  return all;
}

// For the names of tests: no hyphens.
inline std::string TestName(AllReduceAlgorithm algorithm) {
  std::string name = AllReduceNames()[static_cast<size_t>(algorithm)];
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace torus::parallel::testing
