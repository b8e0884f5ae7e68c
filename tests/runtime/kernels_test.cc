#include "runtime/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/element_cast.h"
#include "runtime/parallel_for.h"
#include "tests/testing/largest_team.h"

namespace torus {
namespace {

using testing::LargestTeamOf;

constexpr int kDTypes = static_cast<int>(DType::kBool) + 1;
constexpr int64_t kWorthAThread = 1 << 15;  // elements

// What `value` becomes in `dtype` by the rules of C++; small whole numbers are exact in all.
double Expected(double value, DType dtype) { return dtype == DType::kBool ? value != 0 : value; }

TEST(Copy, CastsBetweenAllPairs) {
  const Tensor source = FromVector<double>({0, 1, 2, 3, 100, 255}, {2, 3});
  for (int from = 0; from < kDTypes; ++from) {
    for (int to = 0; to < kDTypes; ++to) {
      const DType f = static_cast<DType>(from), t = static_cast<DType>(to);
      const Tensor out = source.To(f).To(t);
      EXPECT_EQ(out.dtype(), t);
      const auto got = ToVector<double>(out.To(DType::kF64));
      const auto before = ToVector<double>(source);
      for (size_t i = 0; i < 6; ++i)
        EXPECT_EQ(got[i], Expected(Expected(before[i], f), t)) << Name(f) << " to " << Name(t);
    }
  }
}

TEST(Copy, FloatToIntegerTruncates) {
  const Tensor source = FromVector<float>({-1.9f, 1.9f, 0.5f}, {3});
  EXPECT_EQ(ToVector<int32_t>(source.To(DType::kI32)), (std::vector<int32_t>{-1, 1, 0}));
  EXPECT_EQ(ToVector<bool>(source.To(DType::kBool)), (std::vector<bool>{true, true, true}));
}

TEST(Copy, LargeIntegersAreExactAmongIntegers) {
  const int64_t big = (int64_t{1} << 53) + 1;
  EXPECT_EQ(FromVector<int64_t>({big}, {1}).Clone().data<int64_t>()[0], big);
}

// Rows that are moved up, moved down, and a matrix onto its own transpose; in parts of threads.
TEST(Copy, ReadsWhatWasThereBefore) {
  const int before = TeamSize();
  for (const int threads : {1, 3}) {
    SetTeamSize(threads);
    const int64_t n = 700;
    const Tensor start = Arange(n * n, DType::kF32).View({n, n});
    const auto after = [&](const auto& in, const auto& out) {
      Tensor x = start.Clone(), to = out(x);
      Copy(in(x), to);
      return ToVector<float>(to.Contiguous());
    };
    const auto whole = [](const Tensor& x) { return x; };
    const auto from = [](int64_t row) {
      return [row](const Tensor& x) { return x.Narrow(0, row, n - 3); };
    };
    const auto turned = [](const Tensor& x) { return x.Transpose(0, 1); };
    EXPECT_EQ(after(from(0), from(3)), ToVector<float>(from(0)(start)));
    EXPECT_EQ(after(from(3), from(0)), ToVector<float>(from(3)(start)));
    EXPECT_EQ(after(turned, whole), ToVector<float>(turned(start)));
    EXPECT_EQ(after(whole, whole), ToVector<float>(start));
    Tensor x = start.Clone(), to = from(3)(x);
    AddInPlace(to, from(0)(x));
    Tensor want = from(3)(start).Clone();
    AddInPlace(want, from(0)(start));
    EXPECT_EQ(ToVector<float>(to), ToVector<float>(want));
  }
  SetTeamSize(before);
}

TEST(Copy, RefusesToWriteAnElementTwice) {
  Tensor twice = Zeros({1, 3}).Expand({2, 3});
  EXPECT_THROW(Copy(Zeros({2, 3}), twice), BadInput);
  Fill(twice, 4);
  EXPECT_EQ(ToVector<float>(twice), std::vector<float>(6, 4));
  Tensor none = Zeros({1, 3}).Expand({2, 3}).Narrow(1, 0, 0);
  Copy(Zeros({2, 0}), none);
}

// Every combination of strided and contiguous ends, against plain indexing; three thread counts.
TEST(Copy, StridedEndsKeepTheOrder) {
  for (int threads : {1, 2, 5}) {
    SetTeamSize(threads);
    const Tensor base = Arange(7 * 11 * 13, DType::kF32).View({7, 11, 13});
    const Tensor in = base.Permute({2, 0, 1}).Narrow(1, 2, 4);
    Tensor target = Zeros({11, 4, 13}, DType::kF64);
    Tensor out = target.Permute({2, 1, 0});
    Copy(in, out);
    const auto flat = ToVector<double>(target);
    for (int c = 0; c < 13; ++c)
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 11; ++b)
          ASSERT_EQ(flat[(b * 4 + a) * 13 + c], ((a + 2) * 11 + b) * 13 + c);
  }
}

TEST(Copy, LargeSplitAmongThreadsIsComplete) {
  for (int threads : {1, 3}) {
    SetTeamSize(threads);
    const Tensor in = Arange(1 << 20, DType::kI32).View({1024, 1024});
    const auto transposed = ToVector<int32_t>(in.Transpose(0, 1));
    for (int i = 0; i < 1 << 20; i += 997) ASSERT_EQ(transposed[i], (i % 1024) * 1024 + i / 1024);
    EXPECT_EQ(ToVector<int32_t>(in.Clone()), ToVector<int32_t>(in));
  }
}

// Longer than a thread's share and a vector: every pair, element by element.
TEST(Copy, LongRowsAreCastByAllThreads) {
  const int before = TeamSize();
  const int64_t n = (3 << 16) + 13;
  Tensor samples({n}, DType::kF32);
  for (int64_t i = 0; i < n; ++i)
    samples.mutable_data<float>()[i] = static_cast<float>(i % 251) * 0.4f;
  for (int from = 0; from < kDTypes; ++from)
    for (int to = 0; to < kDTypes; ++to) {
      const Tensor in = samples.To(static_cast<DType>(from));
      SetTeamSize(1);
      const Tensor want = in.To(static_cast<DType>(to));
      SetTeamSize(3);
      for (const Tensor& shaped : {in, in.View({1, n}), in.View({1, 1, n, 1})}) {
        Tensor got;
        const int team = LargestTeamOf([&] { got = shaped.To(static_cast<DType>(to)); });
        ASSERT_EQ(team, from == to ? 1 : 3) << Name(in.dtype()) << " to " << Name(want.dtype());
        ASSERT_EQ(std::memcmp(got.raw(), want.raw(), want.bytes()), 0)
            << Name(in.dtype()) << " to " << Name(want.dtype());
      }
      VisitDType(in.dtype(), [&](auto f) {
        VisitDType(want.dtype(), [&](auto t) {
          using From = decltype(f);
          using To = decltype(t);
          for (int64_t i = 0; i < n; ++i) {
            const To one = ElementCast<To, From>()(in.data<From>()[i]);
            ASSERT_EQ(std::memcmp(&one, want.data<To>() + i, sizeof(To)), 0);
          }
        });
      });
    }
  SetTeamSize(before);
}

TEST(Copy, AllHalvesAndTheirNeighbours) {
  Tensor halves({65536}, DType::kF16);
  for (int i = 0; i < 65536; ++i) halves.mutable_data<Float16>()[i].bits = static_cast<uint16_t>(i);
  const std::vector<float> wide = ToVector<float>(halves.To(DType::kF32));
  std::vector<float> near;
  for (int i = 0; i < 65536; ++i) {
    const float one = static_cast<float>(halves.data<Float16>()[i]);
    ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(one)) << i;
    for (const float value : {one, one * (1 + 0x1p-11f), one * (1 + 0x1p-12f)})
      near.push_back(value);
  }
  const Tensor back = FromVector(near, {std::ssize(near)}).To(DType::kF16);
  for (size_t i = 0; i < near.size(); ++i)
    ASSERT_EQ(back.data<Float16>()[i].bits, Float16(near[i]).bits) << near[i];
}

// Dimensions that merge, ones that do not, and rows cut in their middle.
TEST(Copy, StridedCopiesOfAllTeams) {
  const int before = TeamSize();
  const Tensor base = Arange(6 * 50 * 40 * 30, DType::kF32).View({6, 50, 40, 30});
  const std::vector<Tensor> views{base.Permute({0, 2, 3, 1}),
                                  base.Permute({3, 0, 1, 2}),
                                  base.Narrow(1, 3, 40),
                                  base.Narrow(3, 1, 1),
                                  base.Select(0, 2),
                                  base.View({1, 6, 50, 1200}).Permute({0, 3, 1, 2}),
                                  base.View({6 * 50, 1, 1200}).Expand({6 * 50, 3, 1200})};
  for (const Tensor& view : views) {
    SetTeamSize(1);
    const std::vector<double> want = ToVector<double>(view.To(DType::kF64));
    for (size_t i = 0; i < want.size(); i += 611) {  // against plain indexing
      int64_t rest = static_cast<int64_t>(i), at = view.offset();
      for (int d = view.rank() - 1; d >= 0; --d) {
        at += rest % view.dim(d) * view.strides()[d];
        rest /= view.dim(d);
      }
      ASSERT_EQ(want[i], static_cast<double>(at));
    }
    for (const int threads : {2, 3, 7}) {
      SetTeamSize(threads);
      Tensor got;
      const int team = LargestTeamOf([&] { got = view.To(DType::kF64); });
      EXPECT_EQ(team, std::clamp<int64_t>(view.numel() / kWorthAThread, 1, threads))
          << fmt::format("{}", view);
      EXPECT_EQ(ToVector<double>(got), want);
    }
  }
  SetTeamSize(before);
}

TEST(Fill, RepeatedAndStridedElementsOfAllTeams) {
  const int before = TeamSize();
  SetTeamSize(3);
  Tensor whole = Zeros({400, 300}), part = whole.Narrow(1, 7, 280);
  EXPECT_EQ(LargestTeamOf([&] { Fill(part, 2); }), 3);
  Tensor rows = whole.Narrow(1, 0, 1).Expand({400, 300});
  Fill(rows, 3);
  const std::vector<float> values = ToVector<float>(whole);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], i % 300 == 0 ? 3 : i % 300 >= 7 && i % 300 < 287 ? 2 : 0) << i;
  SetTeamSize(before);
}

TEST(Copy, ExpandedInputRepeats) {
  const Tensor row = FromVector<float>({1, 2}, {1, 2}).Expand({3, 2});
  EXPECT_EQ(ToVector<float>(row), (std::vector<float>{1, 2, 1, 2, 1, 2}));
  const Tensor scalar = Full({}, 4).Expand({2, 2});
  EXPECT_EQ(ToVector<float>(scalar), (std::vector<float>{4, 4, 4, 4}));
}

TEST(Copy, EmptyAndScalar) {
  EXPECT_EQ(Zeros({0, 3}).Clone().shape(), (Shape{0, 3}));
  EXPECT_EQ(Zeros({3, 0}).Transpose(0, 1).To(DType::kI64).numel(), 0);
  EXPECT_EQ(Full({}, 2.5).To(DType::kF64).Item(), 2.5);
}

TEST(Zeros, OfMemoryThatWasUsedBefore) {
  for (const int64_t n : {3, 1 << 12, (5 << 20) + 3}) {
    { const Tensor used = Full({n}, 7); }
    const std::vector<float> values = ToVector<float>(Zeros({n}));
    EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](float x) { return x == 0; })) << n;
  }
}

TEST(Copy, RefusesOtherShapesAndBumpsTheVersion) {
  Tensor out = Zeros({3});
  EXPECT_THROW(Copy(Zeros({2}), out), BadInput);
  const uint64_t before = out.version();
  Copy(Full({3}, 1), out);
  EXPECT_GT(out.version(), before);
}

TEST(Fill, EveryDTypeAndAView) {
  for (int dtype = 0; dtype < kDTypes; ++dtype) {
    const DType d = static_cast<DType>(dtype);
    const Tensor filled = Full({5}, 3, d).To(DType::kF64);
    EXPECT_EQ(filled.Select(0, 4).Item(), Expected(3, d)) << Name(d);
  }
  Tensor whole = Zeros({2, 3});
  Tensor column = whole.Select(1, 1);
  Fill(column, 7);
  EXPECT_EQ(ToVector<float>(whole), (std::vector<float>{0, 7, 0, 0, 7, 0}));
  Tensor none = Empty({0});
  Fill(none, 1);
}

TEST(AddInPlace, AddsAndRefuses) {
  Tensor sum = FromVector<int64_t>({1, 2}, {2});
  AddInPlace(sum, FromVector<int64_t>({10, 20}, {2}));
  EXPECT_EQ(ToVector<int64_t>(sum), (std::vector<int64_t>{11, 22}));
  Tensor floats = Zeros({2});
  EXPECT_THROW(AddInPlace(floats, sum), BadInput);
  EXPECT_THROW(AddInPlace(floats, Zeros({3})), BadInput);
  Tensor bytes = Zeros({2}, DType::kU8);
  EXPECT_THROW(AddInPlace(bytes, bytes), BadInput);
  Tensor strided = Zeros({2, 2}).Transpose(0, 1);
  EXPECT_THROW(AddInPlace(strided, Zeros({2, 2})), BadInput);
}

// 256 + 1 and 256 + 3 lie between two numbers of 8 bits, 2048 + 1 and 2048 + 3 of 11: ties go to
// even. The third sums are exact.
TEST(AddInPlace, AddsHalvesAsFloatsAndRoundsOnce) {
  for (const auto& [dtype, large] :
       {std::pair(DType::kBF16, 256.0f), std::pair(DType::kF16, 2048.0f)}) {
    Tensor sum = FromVector<float>({large, large, 1.5f}, {3}).To(dtype);
    AddInPlace(sum, FromVector<float>({1, 3, -0.25f}, {3}).To(dtype));
    EXPECT_EQ(ToVector<float>(sum.To(DType::kF32)), (std::vector<float>{large, large + 4, 1.25f}))
        << Name(dtype);
  }
}

TEST(ScaleInPlace, ScalesAndRefuses) {
  Tensor values = FromVector<double>({1, 2}, {2});
  ScaleInPlace(values, 0.5);
  EXPECT_EQ(ToVector<double>(values), (std::vector<double>{0.5, 1}));
  Tensor integers = Zeros({2}, DType::kI32);
  EXPECT_THROW(ScaleInPlace(integers, 2), BadInput);
}

TEST(MoveMemory, StaysWhereItIsAndKnowsNoMeta) {
  const Tensor x = Full({3}, 2);
  const void* const at = x.raw();
  MoveMemory(x, Device{});
  EXPECT_EQ(x.raw(), at);
  EXPECT_THROW(MoveMemory(x, kMetaDevice), BadInput);
  EXPECT_THROW(MoveMemory(Empty({3}, DType::kF32, kMetaDevice), Device{}), BadInput);
}

TEST(Storage, SwapExchangesWhatTensorsSee) {
  const Tensor a = Full({3}, 1), b = Full({3}, 2);
  const uint64_t version = a.version();
  a.storage()->Swap(*b.storage());
  EXPECT_EQ(ToVector<float>(a), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(ToVector<float>(b), (std::vector<float>{1, 1, 1}));
  EXPECT_GT(a.version(), version);
}

}  // namespace
}  // namespace torus
