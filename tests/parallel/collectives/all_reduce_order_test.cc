// Terms that do not add up exactly: the order of sums shows, and must be the documented one.
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <tuple>

#include "parallel/collectives/chunk.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/run_ranks.h"
#include "tests/parallel/collectives/terms.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

// Of very different magnitude.
std::vector<float> Uneven(int rank, int64_t count) {
  std::mt19937 rng(rank + 1);
  std::vector<float> data(count);
  for (float& x : data)
    x = std::ldexp(static_cast<float>(rng()) - 2e9f, static_cast<int>(rng() % 20));
  return data;
}

// Of ranks `first`, first + 1, ... around the ring.
float RingSum(const std::vector<float>& terms, int first) {
  const auto n = static_cast<int>(terms.size());
  float sum = terms[first % n];
  for (int k = 1; k < n; ++k) sum += terms[(first + k) % n];
  return sum;
}

// Of the terms of rank `i` and of those below it in a heap.
float PairSum(std::span<const float> terms) {
  if (terms.size() == 1) return terms[0];
  const size_t left = std::bit_floor(terms.size() - 1);
  return PairSum(terms.first(left)) + PairSum(terms.subspan(left));
}

float HeapSum(const std::vector<float>& terms, size_t i) {
  float sum = terms[i];
  for (const size_t child : {2 * i + 1, 2 * i + 2})
    if (child < terms.size()) sum += HeapSum(terms, child);
  return sum;
}

float HalvingSum(std::vector<float> terms) {
  const size_t powers = std::bit_floor(terms.size()), pairs = terms.size() - powers;
  for (size_t i = 0; i < powers; ++i)
    terms[i] = i < pairs ? terms[2 * i] + terms[2 * i + 1] : terms[i + pairs];
  for (size_t width = powers / 2; width > 0; width /= 2)
    for (size_t i = 0; i < width; ++i) terms[i] += terms[i + width];
  return terms[0];
}

float Expected(AllReduceAlgorithm algorithm, const std::vector<float>& terms, int chunk) {
  switch (algorithm) {
    case AllReduceAlgorithm::kDirect:
      return PairSum(terms);
    case AllReduceAlgorithm::kRing:
      return RingSum(terms, chunk + 1);
    case AllReduceAlgorithm::kHalvingDoubling:
      return HalvingSum(terms);
    case AllReduceAlgorithm::kTree:
      return HeapSum(terms, 0);
    case AllReduceAlgorithm::kEngine:
      break;
  }
  return 0;
}

class AllReduceOrder : public ::testing::TestWithParam<std::tuple<AllReduceAlgorithm, int>> {};

TEST_P(AllReduceOrder, IsTheDocumentedOneOnAllRanks) {
  const auto algorithm = std::get<0>(GetParam());
  const int n = std::get<1>(GetParam());
  const int64_t count = 100'003;
  std::vector<std::vector<float>> terms, results(n);
  for (int rank = 0; rank < n; ++rank) terms.push_back(Uneven(rank, count));
  RunRanks(n, [&](Transport& t) {
    std::vector<float> data = terms[t.rank()];
    AllReduce(t, std::span<float>(data), "test", algorithm);
    results[t.rank()] = std::move(data);
  });
  for (int c = 0; c < n; ++c) {
    const Chunk chunk = ChunkOf(count, n, c);
    for (int64_t i = chunk.begin; i < chunk.begin + chunk.size; ++i) {
      std::vector<float> of_ranks;
      for (const std::vector<float>& of_rank : terms) of_ranks.push_back(of_rank[i]);
      ASSERT_EQ(results[0][i], Expected(algorithm, of_ranks, c)) << i;
    }
  }
  for (const std::vector<float>& result : results)
    EXPECT_EQ(std::memcmp(result.data(), results[0].data(), count * sizeof(float)), 0);
}

INSTANTIATE_TEST_SUITE_P(OneToEight, AllReduceOrder,
                         ::testing::Combine(::testing::ValuesIn(EveryAlgorithm()),
                                            ::testing::Range(1, 9)),
                         [](const auto& info) {
                           return TestName(std::get<0>(info.param)) +
                                  std::to_string(std::get<1>(info.param));
                         });

// Waits for a random time before it starts a message.
class LateTransport : public DecoratedTransport {
 public:
  LateTransport(Transport& inner, uint32_t seed) : DecoratedTransport(inner), rng_(seed) {}
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    Delay();
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override {
    Delay();
    return DecoratedTransport::Recv(peer, tag, buffer, std::move(what));
  }

 private:
  void Delay() {
    if (rng_() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(rng_() % 300));
  }
  std::mt19937 rng_;
};

class AllReduceDelays : public ::testing::TestWithParam<AllReduceAlgorithm> {};

TEST_P(AllReduceDelays, AHundredTimesTheSameBits) {
  const int n = 4;
  const int64_t count = 400'003;  // several pieces a chunk
  std::vector<std::vector<float>> terms, first(n);
  for (int rank = 0; rank < n; ++rank) terms.push_back(Uneven(rank, count));
  for (int round = 0; round < 100; ++round) {
    RunRanks(n, [&](Transport& t) {
      LateTransport late(t, 1000 * round + t.rank());
      std::vector<float> data = terms[t.rank()];
      AllReduce(late, std::span<float>(data), "test", GetParam());
      if (round == 0) {
        first[t.rank()] = data;
      } else {
        EXPECT_EQ(std::memcmp(data.data(), first[t.rank()].data(), count * sizeof(float)), 0);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Each, AllReduceDelays, ::testing::ValuesIn(EveryAlgorithm()),
                         [](const auto& info) { return TestName(info.param); });

}  // namespace
}  // namespace torus::parallel
