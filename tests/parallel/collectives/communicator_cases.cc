#include "tests/parallel/collectives/communicator_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

namespace torus::parallel::testing {
namespace {

// Values whose f32 and f64 sums depend on the order.
template <class T>
T Value(int rank, size_t i) {
  const auto sign = rank % 2 == 0 ? 1 : -1;
  return static_cast<T>(sign * 1e8 + rank + 0.37 * static_cast<double>(i % 1000));
}

template <class T>
std::vector<T> Values(int rank, size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = Value<T>(rank, i);
  return values;
}

// Pairs of neighbours first, then pairs of pairs.
template <class T>
T SumInPairs(std::span<const T> terms) {
  if (terms.size() == 1) return terms[0];
  const size_t left = std::bit_floor(terms.size() - 1);
  return SumInPairs(terms.first(left)) + SumInPairs(terms.subspan(left));
}

template <class T>
std::vector<T> SumsOf(int ranks, size_t count) {
  std::vector<T> sums(count), terms(ranks);
  for (size_t i = 0; i < count; ++i) {
    for (int r = 0; r < ranks; ++r) terms[r] = Value<T>(r, i);
    sums[i] = SumInPairs<T>(terms);
  }
  return sums;
}

// Elements: none, fewer than ranks, odd, longer than a piece of a message.
constexpr std::array<size_t, 5> kCounts{0, 1, 7, 1000, 70'001};

template <class T>
void AllReducesInPairs(Communicator& communicator, size_t count) {
  std::vector<T> data = Values<T>(communicator.rank(), count);
  communicator.AllReduce<T>(data, "sum");
  EXPECT_EQ(data, SumsOf<T>(communicator.size(), count));
}

template <class T>
void StartsAllReducesWithTheSameBits(Communicator& communicator, size_t count) {
  std::vector<std::vector<T>> data(3, Values<T>(communicator.rank(), count));
  std::vector<std::unique_ptr<PendingCollective>> started;
  for (int lane = 0; lane < 3; ++lane)
    started.push_back(
        communicator.StartAllReduce(BufferOf(std::span(data[lane])), kDTypeOf<T>, "sum", lane));
  for (int lane : {2, 0, 1}) {
    started[lane]->Advance();
    started[lane]->Finish();
    EXPECT_TRUE(started[lane]->Advance());
    EXPECT_EQ(data[lane], SumsOf<T>(communicator.size(), count));
  }
}

// Every second row is twice as long.
template <class T>
struct Rows {
  Rows(int ranks, size_t count) {
    for (int r = 0; r < ranks; ++r) data.emplace_back(r % 2 == 0 ? count : 2 * count);
    for (std::vector<T>& row : data) buffers.push_back(BufferOf(std::span(row)));
  }
  std::vector<std::vector<T>> data;
  std::vector<Buffer> buffers;
};

template <class T>
void ReduceScattersInPairs(Communicator& communicator, size_t count) {
  const int n = communicator.size(), rank = communicator.rank();
  Rows<T> rows(n, count);
  for (std::vector<T>& row : rows.data) std::ranges::copy(Values<T>(rank, row.size()), row.begin());
  communicator.ReduceScatter(rows.buffers, kDTypeOf<T>, "sums");
  for (int r = 0; r < n; ++r) {
    const size_t size = rows.data[r].size();
    EXPECT_EQ(rows.data[r], r == rank ? SumsOf<T>(n, size) : Values<T>(rank, size));
  }
}

template <class T>
void GathersRowsOnAllAndOnOne(Communicator& communicator, size_t count) {
  const int n = communicator.size(), rank = communicator.rank();
  for (int root = -2; root < n; ++root) {
    Rows<T> rows(n, count);
    std::ranges::copy(Values<T>(rank, rows.data[rank].size()), rows.data[rank].begin());
    if (root == -2)
      communicator.AllGather(rows.buffers, "rows");
    else if (root == -1)
      communicator.StartAllGather(rows.buffers, "rows", 1)->Finish();
    else
      communicator.Gather(root, rows.buffers, "rows");
    for (int r = 0; r < n; ++r) {
      const size_t size = rows.data[r].size();
      const bool has = root < 0 || rank == root || rank == r;
      EXPECT_EQ(rows.data[r], has ? Values<T>(r, size) : std::vector<T>(size));
    }
  }
}

template <class T>
void BroadcastsFromEveryRank(Communicator& communicator, size_t count) {
  for (int root = 0; root < communicator.size(); ++root) {
    std::vector<T> data = Values<T>(communicator.rank(), count);
    communicator.Broadcast(BufferOf(std::span(data)), root, "values");
    EXPECT_EQ(data, Values<T>(root, count));
  }
}

template <class T>
void SendsABlockToEach(Communicator& communicator, size_t count) {
  const int n = communicator.size();
  std::vector<T> send, receive(n * count), want;
  for (int r = 0; r < n; ++r) {
    std::ranges::copy(Values<T>(communicator.rank() + 10 * r, count), std::back_inserter(send));
    std::ranges::copy(Values<T>(r + 10 * communicator.rank(), count), std::back_inserter(want));
  }
  communicator.AllToAll(BufferOf(std::span(send)), BufferOf(std::span(receive)), "blocks");
  EXPECT_EQ(receive, want);
  communicator.Barrier("all have them");
}

template <class T>
void CheckType(Communicator& communicator, size_t count) {
  AllReducesInPairs<T>(communicator, count);
  StartsAllReducesWithTheSameBits<T>(communicator, count);
  ReduceScattersInPairs<T>(communicator, count);
  GathersRowsOnAllAndOnOne<T>(communicator, count);
  BroadcastsFromEveryRank<T>(communicator, count);
  SendsABlockToEach<T>(communicator, count);
}

}  // namespace

void CheckEveryOperation(Communicator& communicator) {
  for (const size_t count : kCounts) {
    CheckType<double>(communicator, count);
    CheckType<float>(communicator, count);
    CheckType<int64_t>(communicator, count);
    CheckType<int32_t>(communicator, count);
  }
}

}  // namespace torus::parallel::testing
