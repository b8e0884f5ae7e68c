// Rows of any lengths: sums in pairs of neighbouring ranks, on the rank whose row it is.
#include "parallel/collectives/rows.h"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <span>

#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// Row r of rank `rank`: values whose sum depends on the order in f32.
std::vector<float> Row(int rank, int r, size_t size) {
  std::vector<float> row(size);
  for (size_t i = 0; i < size; ++i)
    row[i] = static_cast<float>(rank % 2 == 0 ? 1e8 : -1e8) + static_cast<float>(rank + r) +
             0.37f * static_cast<float>(i);
  return row;
}

Buffer BufferOf(std::vector<float>& row) { return {row.data(), row.size() * sizeof(float)}; }

const std::vector<std::vector<size_t>> kSizes{
    {5}, {3, 0}, {0, 7, 1}, {4, 4, 4, 4}, {0, 0, 0, 9, 2}};

float InPairs(std::span<const float> terms) {
  if (terms.size() == 1) return terms[0];
  const size_t left = std::bit_floor(terms.size() - 1);
  return InPairs(terms.first(left)) + InPairs(terms.subspan(left));
}

// Element i of row r, of all ranks.
std::vector<float> Terms(int ranks, int r, size_t size, size_t i) {
  std::vector<float> terms;
  for (int rank = 0; rank < ranks; ++rank) terms.push_back(Row(rank, r, size)[i]);
  return terms;
}

TEST(Rows, SumsAreThoseInPairs) {
  for (const std::vector<size_t>& sizes : kSizes) {
    const int n = static_cast<int>(sizes.size());
    RunRanks(n, [&](Transport& t) {
      std::vector<std::vector<float>> data;
      std::vector<std::span<float>> rows;
      for (int r = 0; r < n; ++r) data.push_back(Row(t.rank(), r, sizes[r]));
      for (std::vector<float>& row : data) rows.emplace_back(row);
      ReduceRows<float>(t, rows, "test");
      for (int r = 0; r < n; ++r)
        EXPECT_EQ(t.BytesSent(r, TagClass::kCollective),
                  r == t.rank() ? 0 : sizes[r] * sizeof(float));
      for (int r = 0; r < n; ++r) {
        std::vector<float> want = Row(t.rank(), r, sizes[r]);
        for (size_t i = 0; r == t.rank() && i < want.size(); ++i)
          want[i] = InPairs(Terms(n, r, sizes[r], i));
        EXPECT_EQ(data[r], want) << "row " << r << " of " << n << " on rank " << t.rank();
      }
    });
  }
}

TEST(Rows, AllHaveThemAfterTheGather) {
  for (const std::vector<size_t>& sizes : kSizes) {
    const int n = static_cast<int>(sizes.size());
    RunRanks(n, [&](Transport& t) {
      std::vector<std::vector<float>> data;
      std::vector<Buffer> rows;
      for (int r = 0; r < n; ++r)
        data.push_back(r == t.rank() ? Row(r, r, sizes[r]) : std::vector<float>(sizes[r]));
      for (std::vector<float>& row : data) rows.push_back(BufferOf(row));
      GatherRows(t, rows, "test");
      for (int r = 0; r < n; ++r) EXPECT_EQ(data[r], Row(r, r, sizes[r]));
      uint64_t sent = 0;
      for (int r = 0; r < n; ++r) sent += t.BytesSent(r, TagClass::kCollective);
      EXPECT_EQ(sent, (n - 1) * sizes[t.rank()] * sizeof(float));
    });
  }
}

TEST(Rows, TheRootAloneHasThemAfterTheGatherThere) {
  for (const std::vector<size_t>& sizes : kSizes) {
    const int n = static_cast<int>(sizes.size());
    for (int root = 0; root < n; ++root)
      RunRanks(n, [&](Transport& t) {
        std::vector<std::vector<float>> data(n);
        std::vector<Buffer> rows;
        data[t.rank()] = Row(t.rank(), t.rank(), sizes[t.rank()]);
        for (int r = 0; r < n; ++r) {
          if (t.rank() == root) data[r].resize(sizes[r]);
          rows.push_back(BufferOf(data[r]));
        }
        GatherRowsAt(root, t, rows, "test");
        for (int r = 0; r < n; ++r) {
          if (t.rank() == root) {
            EXPECT_EQ(data[r], Row(r, r, sizes[r]));
          }
          const bool sends = t.rank() != root && r == root;
          EXPECT_EQ(t.BytesSent(r, TagClass::kCollective), 0u);
          EXPECT_EQ(t.BytesSent(r, TagClass::kControl),
                    sends ? sizes[t.rank()] * sizeof(float) : 0);
        }
      });
  }
}

TEST(Rows, ThereIsOneForEachRank) {
  RunRanks(2, [](Transport& t) {
    EXPECT_THROW(ReduceRows<float>(t, {{}}, "test"), BadInput);
    EXPECT_THROW(GatherRows(t, {{}, {}, {}}, "test"), BadInput);
    EXPECT_THROW(GatherRowsAt(0, t, {{}}, "test"), BadInput);
    EXPECT_THROW(GatherRowsAt(2, t, {{}, {}}, "test"), BadInput);
  });
}

}  // namespace
}  // namespace torus::parallel
