// Attention in 16 bits by our own kernels for tensor cores, held against the CPU in f64. Needs a
// build with --config=emulated_gpu, or --config=cuda and a GPU; there cuDNN takes what has neither
// mask nor dropout.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/attention/kernels.h"
#include "runtime/allocator.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/same_bits.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

using testing::kFirstGpu;

enum class Mask { kNone, kPadding, kBool, kAdded, kAddedByKey };

// How query, key and value, and their gradients, lie in memory.
enum class Layout { kApart, kPacked, kUnaligned };

struct Case {
  const char* name;
  int64_t rows, keys, width, value_width;
  bool causal = false;
  Mask mask = Mask::kNone;
  double dropout = 0;
  int64_t group = 1;
  Layout layout = Layout::kApart;
};

constexpr int64_t kBatch = 2, kKeyHeads = 1;

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases{
      {"OneRow", 1, 130, 64, 64},
      {"OneKey", 130, 1, 72, 33, false, Mask::kNone, 0.25},
      {"OddWidth", 64, 63, 33, 8},
      {"CausalGroups", 65, 130, 64, 64, true, Mask::kNone, 0, 2},
      {"CausalMoreRowsThanKeys", 130, 65, 40, 72, true},
      {"Padding", 63, 65, 8, 40, false, Mask::kPadding},
      {"PaddingAndDropout", 65, 130, 64, 64, false, Mask::kPadding, 0.1},
      {"BoolMask", 65, 64, 128, 128, false, Mask::kBool},
      {"AddedMaskOfEachHead", 64, 130, 40, 64, false, Mask::kAdded, 0, 2},
      {"AddedMaskByKey", 63, 65, 72, 128, false, Mask::kAddedByKey, 0.25, 2},
      {"CausalDropout", 130, 130, 64, 64, true, Mask::kNone, 0.25},
      {"CausalDropoutGroupsWide", 65, 65, 128, 128, true, Mask::kNone, 0.25, 2},
      {"AllDropped", 3, 65, 8, 8, false, Mask::kNone, 1},
      {"WiderThanFlash", 65, 65, 136, 136, false, Mask::kAddedByKey, 0.1, 2},
      {"Unaligned", 65, 65, 64, 40, true, Mask::kNone, 0.1, 1, Layout::kUnaligned},
      {"Packed", 65, 65, 40, 40, true, Mask::kNone, 0.1, 1, Layout::kPacked},
      {"PackedWide", 65, 65, 72, 72, false, Mask::kPadding, 0, 1, Layout::kPacked}};
  return cases;
}

AttentionProblem ProblemOf(const Case& c) {
  const int64_t heads = kKeyHeads * c.group;
  const AttentionShape shape =
      AttentionShapeOf({kBatch, heads, c.rows, c.width}, {kBatch, kKeyHeads, c.keys, c.width},
                       {kBatch, kKeyHeads, c.keys, c.value_width}, true);
  KeyedDropout dropout{.heads = heads, .first_head = 3, .p = c.dropout};
  if (c.dropout > 0)
    for (uint64_t sample : {4, 9})
      dropout.streams.emplace_back(RandomKey{.seed = 7, .step = 2, .layer = 3, .sample = sample});
  return {shape, 1 / std::sqrt(static_cast<double>(c.width)), c.causal, dropout};
}

// Whether a mask lets a row see a key. Row 2 sees none, unless the mask is for all rows alike.
bool IsSeen(int64_t row, int64_t key, bool all_rows) {
  return (all_rows || row != 2) && (row * 5 + key * 3) % 7 != 1;
}

// Of the second sample, padding leaves nothing. Added masks are each head's own; in others heads
// share.
Tensor MaskOf(const Case& c, DType dtype) {
  if (c.mask == Mask::kNone) return {};
  const bool by_key = c.mask == Mask::kPadding || c.mask == Mask::kAddedByKey;
  const int64_t heads = c.mask == Mask::kAdded ? kKeyHeads * c.group : 1;
  const Shape shape{kBatch, heads, by_key ? 1 : c.rows, c.keys};
  Tensor sees(shape, DType::kBool), added(shape, DType::kF32);
  for (int64_t i = 0; i < sees.numel(); ++i) {
    const int64_t key = i % c.keys, row = i / c.keys % shape[2], head = i / c.keys / shape[2];
    sees.mutable_data<bool>()[i] = by_key ? head == 0 && key % 3 != 1 : IsSeen(row, key, false);
    added.mutable_data<float>()[i] =
        IsSeen(row, key + head, by_key) ? static_cast<float>(i % 5) / 4 : -INFINITY;
  }
  const bool is_bool = c.mask == Mask::kPadding || c.mask == Mask::kBool;
  return is_bool ? sees : added.To(dtype);
}

// Rows of random values that `dtype` holds exactly.
Tensor Values(const Shape& shape, DType dtype, uint64_t seed) {
  Tensor values(shape, DType::kF32);
  FillNormal(values, 0, 1, RandomStream({.seed = seed}));
  return values.To(dtype);
}

struct Operands {
  Tensor query, key, value, mask, dout;
  AttentionGradients gradients;
};

// The same shape in memory that starts at an odd element.
Tensor Unaligned(const Shape& shape, DType dtype, Device device) {
  const Tensor memory({Numel(shape) + 1}, dtype, device);
  return memory.Narrow(0, 1, Numel(shape)).View(shape);
}

// Three tensors of the shape (N, H, L, E) that lie as a packed projection has them.
std::vector<Tensor> Packed(const Shape& s, DType dtype, Device device) {
  const Tensor all({s[0], s[2], 3, s[1], s[3]}, dtype, device);
  const Tensor apart = all.Permute({2, 0, 3, 1, 4});
  return {apart.Select(0, 0), apart.Select(0, 1), apart.Select(0, 2)};
}

std::vector<Tensor> Room(const Case& c, const AttentionShape& s, DType dtype, Device device) {
  if (c.layout == Layout::kPacked) return Packed(s.Query(), dtype, device);
  std::vector<Tensor> room;
  for (const Shape& shape : {s.Query(), s.Key(), s.Value()})
    room.push_back(c.layout == Layout::kUnaligned ? Unaligned(shape, dtype, device)
                                                  : Tensor(shape, dtype, device));
  return room;
}

// Where `compute` is f64, on the CPU; else on the GPU.
Operands OperandsOf(const Case& c, const AttentionShape& s, DType dtype, DType compute) {
  const Device device = compute == DType::kF64 ? Device{} : kFirstGpu;
  std::vector<Tensor> in = Room(c, s, compute, device);
  for (uint64_t i = 0; i < 3; ++i) torus::Copy(Values(in[i].shape(), dtype, i).To(compute), in[i]);
  const Tensor mask = MaskOf(c, dtype);
  const std::vector<Tensor> d = Room(c, s, compute, device);
  const auto there = [&](const Tensor& t) { return t.To(compute).To(device); };
  Tensor placed;
  if (mask.defined())
    placed = (mask.dtype() == DType::kBool ? mask.To(device) : there(mask)).Expand(s.Scores());
  return {in[0], in[1], in[2], placed, there(Values(s.Out(), dtype, 5)), {d[0], d[1], d[2]}};
}

struct Results {
  AttentionOutputs out;
  AttentionGradients gradients;
};

Results Compute(const Case& c, DType dtype, DType compute) {
  const AttentionProblem problem = ProblemOf(c);
  Operands o = OperandsOf(c, problem.shape, dtype, compute);
  const Device device = o.query.device();
  const DType sums = compute == DType::kF64 ? DType::kF64 : DType::kF32;
  const Shape rows{Numel(problem.shape.batch), c.rows};
  AttentionOutputs out{Tensor(problem.shape.Out(), compute, device), Tensor(rows, sums, device),
                       Tensor(rows, sums, device)};
  const AttentionInputs in{o.query, o.key, o.value, o.mask};
  kernels::Attention(problem, in, out);
  kernels::AttentionBackward(problem, in, out, o.dout, o.gradients);
  return {out, o.gradients};
}

double NormOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// `least`: of partial sums, which may cancel. In 16 bits weights, gradients of scores and results
// are rounded on the way; such errors have random signs, so three of them make all in all less than
// two roundings of the whole.
void ExpectNear(const Tensor& got, const Tensor& want, DType dtype, int64_t terms, double least,
                const char* what) {
  SCOPED_TRACE(what);
  const std::vector<double> g = ToVector<double>(got.To(Device{}).To(DType::kF64).Contiguous());
  const std::vector<double> w = ToVector<double>(want.Contiguous());
  ASSERT_EQ(g.size(), w.size());
  std::vector<double> errors;
  double largest = least;
  for (size_t i = 0; i < w.size(); ++i) {
    largest = std::max(largest, std::abs(w[i]));
    errors.push_back(g[i] - w[i]);
  }
  for (size_t i = 0; i < w.size(); ++i)
    ASSERT_NEAR(g[i], w[i], testing::Tolerance(dtype, terms, largest)) << i;
  const double whole = std::max(NormOf(w), least * std::sqrt(static_cast<double>(w.size())));
  const double bound = testing::Tolerance(dtype, 0, 1) / 4 * whole;
  EXPECT_TRUE(!IsLow(dtype) || NormOf(errors) <= bound) << NormOf(errors) << " over " << bound;
}

// log sum_j exp(score_j) of each row: what all forwards leave alike.
Tensor StatisticsOf(const AttentionOutputs& out) {
  Tensor sum = out.largest.To(Device{}).To(DType::kF64).Clone();
  AddInPlace(sum, out.log_sum.To(Device{}).To(DType::kF64));
  return sum;
}

class FlashAttention : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

TEST_P(FlashAttention, AgreesWithTheCpu) {
  const Case& c = GetParam();
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    SCOPED_TRACE(Name(dtype));
    const Results want = Compute(c, dtype, DType::kF64), got = Compute(c, dtype, dtype);
    const int64_t terms = std::max({c.rows * c.group, c.keys, c.width});
    // A weight's gradient is a sum over a value's width, from which nearly all may be taken again.
    const double weight = c.keys == 1 ? std::sqrt(c.value_width / (1 - c.dropout)) : 0;
    ExpectNear(got.out.out, want.out.out, dtype, c.keys, 0, "out");
    ExpectNear(got.gradients.query, want.gradients.query, dtype, terms, weight, "dquery");
    ExpectNear(got.gradients.key, want.gradients.key, dtype, terms, weight, "dkey");
    ExpectNear(got.gradients.value, want.gradients.value, dtype, terms, 0, "dvalue");
    // Scores are sums in f32 of exact products.
    ExpectNear(StatisticsOf(got.out), StatisticsOf(want.out), DType::kF32, c.keys + c.width, 0,
               "statistics");
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, FlashAttention, ::testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

class FlashKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

// Threads and blocks go in the opposite direction every second time.
TEST_F(FlashKernels, GiveTheSameBitsInEveryRun) {
  for (const Case& c : {Case{"", 65, 130, 72, 40, true, Mask::kNone, 0.25, 2},
                        Case{"", 65, 130, 64, 40, false, Mask::kPadding, 0.25, 2}}) {
    const Results first = Compute(c, DType::kBF16, DType::kBF16);
    const Results again = Compute(c, DType::kBF16, DType::kBF16);
    testing::ExpectSameBits(again.out.out, first.out.out, "out");
    testing::ExpectSameBits(again.gradients.query, first.gradients.query, "dquery");
    testing::ExpectSameBits(again.gradients.key, first.gradients.key, "dkey");
    testing::ExpectSameBits(again.gradients.value, first.gradients.value, "dvalue");
  }
}

// With values that are unit vectors the result is the weights; with such gradients of the result,
// the gradient of the values is.
TEST_F(FlashKernels, DropWhatTheStreamsSay) {
  const Case c{"", 65, 65, 8, 128, false, Mask::kNone, 0.4, 2};
  const AttentionProblem problem = ProblemOf(c);
  const AttentionShape& s = problem.shape;
  Tensor factors(s.Scores(), DType::kF32);
  kernels::DropoutFactors(problem.dropout, factors);
  Operands o = OperandsOf(c, s, DType::kBF16, DType::kBF16);
  const auto units = [](const Shape& shape) {
    Tensor t = Zeros(shape);
    for (int64_t i = 0; i < t.numel() / 128; ++i) t.mutable_data<float>()[i * 128 + i % 65] = 1;
    return t.To(DType::kBF16).To(kFirstGpu);
  };
  o.value = units(s.Value());
  AttentionOutputs out{Tensor(s.Out(), DType::kBF16, kFirstGpu),
                       Tensor({4, 65}, DType::kF32, kFirstGpu),
                       Tensor({4, 65}, DType::kF32, kFirstGpu)};
  const AttentionInputs in{o.query, o.key, o.value, {}};
  kernels::Attention(problem, in, out);
  kernels::AttentionBackward(problem, in, out, units(s.Out()), o.gradients);
  const auto result = ToVector<float>(out.out.To(Device{}).To(DType::kF32));
  const auto dvalue = ToVector<float>(o.gradients.value.To(Device{}).To(DType::kF32));
  for (int64_t head = 0; head < 4; ++head)
    for (int64_t row = 0; row < 65; ++row)
      for (int64_t key = 0; key < 65; ++key) {
        const bool kept = factors.data<float>()[(head * 65 + row) * 65 + key] > 0;
        EXPECT_EQ(result[(head * 65 + row) * 128 + key] > 0, kept) << row << " " << key;
        if (head % 2 == 1) continue;  // of two heads that share a key, both add to its gradient
        const bool other = factors.data<float>()[((head + 1) * 65 + row) * 65 + key] > 0;
        EXPECT_EQ(dvalue[(head / 2 * 65 + key) * 128 + row] > 0, kept || other);
      }
}

// A mask of -1e30 swallows the scores that it is added to, and would swallow a logarithm of their
// sum: both weights are 1/2.
TEST_F(FlashKernels, KeepTheirWeightsUnderALargeAddedMask) {
  const AttentionShape s = AttentionShapeOf({2, 8}, {2, 8}, {2, 8}, false);
  const AttentionInputs in{
      Values({2, 8}, DType::kBF16, 0).To(kFirstGpu), Values({2, 8}, DType::kBF16, 1).To(kFirstGpu),
      Full({2, 8}, 1, DType::kBF16, kFirstGpu), Full({2, 2}, -1e30, DType::kBF16, kFirstGpu)};
  AttentionOutputs out{Tensor({2, 8}, DType::kBF16, kFirstGpu),
                       Tensor({1, 2}, DType::kF32, kFirstGpu),
                       Tensor({1, 2}, DType::kF32, kFirstGpu)};
  AttentionGradients d{{}, {}, Tensor({2, 8}, DType::kBF16, kFirstGpu)};
  const AttentionProblem problem{s, 1, false, {}};
  kernels::Attention(problem, in, out);
  kernels::AttentionBackward(problem, in, out, Full({2, 8}, 1, DType::kBF16, kFirstGpu), d);
  testing::ExpectSameBits(out.out, Full({2, 8}, 1, DType::kBF16), "out");
  testing::ExpectSameBits(d.value, Full({2, 8}, 1, DType::kBF16), "dvalue");
}

// Padding leaves nothing of the second sample; row 2 of each head sees nothing.
TEST_F(FlashKernels, GiveZerosToRowsThatSeeNothing) {
  for (const Mask mask : {Mask::kPadding, Mask::kBool, Mask::kAdded}) {
    const Case c{"", 5, 65, 8, 8, false, mask, 0.25};
    const Results got = Compute(c, DType::kBF16, DType::kBF16);
    const bool padding = mask == Mask::kPadding;
    const auto expect_zeros = [&](const Tensor& t, bool whole_sample) {
      const Tensor dead = whole_sample ? t.Select(0, 1) : t.Narrow(2, 2, 1);
      for (const float value : ToVector<float>(dead.To(Device{}).To(DType::kF32).Contiguous()))
        ASSERT_EQ(value, 0);
    };
    expect_zeros(got.out.out, padding);
    expect_zeros(got.gradients.query, padding);
    if (!padding) continue;
    expect_zeros(got.gradients.key, true);
    expect_zeros(got.gradients.value, true);
  }
}

// Tiles of keys that only padding has are not read: what lies there is no number.
TEST_F(FlashKernels, LeavePaddingAlone) {
  const Case c{"", 65, 200, 8, 8, false, Mask::kPadding, 0.25};
  const AttentionProblem problem = ProblemOf(c);
  Operands o = OperandsOf(c, problem.shape, DType::kBF16, DType::kBF16);
  Tensor sees = Full({kBatch, 1, 1, c.keys}, 0, DType::kBool);
  for (int64_t i = 0; i < sees.numel(); ++i) sees.mutable_data<bool>()[i] = i % c.keys < 60;
  const AttentionInputs in{o.query, o.key, o.value,
                           sees.To(kFirstGpu).Expand(problem.shape.Scores())};
  for (Tensor* t : {&o.key, &o.value}) {
    Tensor padding = t->Narrow(2, 64, c.keys - 64);
    Fill(padding, NAN);
  }
  AttentionOutputs out{Tensor(problem.shape.Out(), DType::kBF16, kFirstGpu),
                       Tensor({kBatch, c.rows}, DType::kF32, kFirstGpu),
                       Tensor({kBatch, c.rows}, DType::kF32, kFirstGpu)};
  kernels::Attention(problem, in, out);
  kernels::AttentionBackward(problem, in, out, o.dout, o.gradients);
  AttentionGradients& d = o.gradients;
  for (const Tensor* t : {&out.out, &d.query, &d.key, &d.value})
    for (const float value : ToVector<float>(t->To(Device{}).To(DType::kF32).Contiguous()))
      ASSERT_TRUE(std::isfinite(value));
  for (const Tensor* t : {&d.key, &d.value})
    for (const float value :
         ToVector<float>(t->Narrow(2, 60, 140).To(Device{}).To(DType::kF32).Contiguous()))
      ASSERT_EQ(value, 0);
}

// The peak of the GPU's memory over what it holds before.
template <class F>
size_t PeakOf(const F& f) {
  Allocator& memory = AllocatorFor(kFirstGpu);
  memory.ResetPeak();
  const size_t before = memory.stats().peak_bytes;
  f();
  return memory.stats().peak_bytes - before;
}

// No copies in f32: a result and two numbers a row; then the gradients and four numbers a row.
TEST_F(FlashKernels, MakeNoCopies) {
  const int64_t rows = 130, width = 64;
  const size_t bytes = rows * width * sizeof(uint16_t);
  const WithPrecision precision({DType::kBF16, MatmulMode::kNative});
  const auto leaf = [&](uint64_t seed) {
    return Variable(Values({1, 1, rows, width}, DType::kBF16, seed).To(kFirstGpu), true);
  };
  for (const DType mask : {DType::kBool, DType::kBF16, DType::kF32}) {
    SCOPED_TRACE(Name(mask));
    const Variable q = leaf(0), k = leaf(1), v = leaf(2);
    const AttentionOptions options{.attn_mask = Variable(Full({rows}, 1, mask, kFirstGpu))};
    Variable y;
    const Tensor dy = Values({1, 1, rows, width}, DType::kBF16, 3).To(kFirstGpu);
    EXPECT_LT(PeakOf([&] { y = ScaledDotProductAttention(q, k, v, options); }), 2 * bytes);
    EXPECT_EQ(y.dtype(), DType::kBF16);
    EXPECT_LT(PeakOf([&] { Backward({y}, {dy}); }), 4 * bytes);
  }
}

}  // namespace
}  // namespace torus::ops
