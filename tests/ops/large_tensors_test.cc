// Kernels for GPUs on tensors of more than 2^31 elements: of each launch the last blocks run, and
// what they compute of the last row is what a tensor of that row alone gives on the CPU. An index
// that is cut to 32 bits reads or writes elsewhere. Needs --config=emulated_gpu, whose memory is
// then reserved addresses (emulated_gpu/queues.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/activation/activation.h"
#include "ops/attention/attention.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/convolution/convolution.h"
#include "ops/dropout/dropout.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/indexing/indexing.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/loss/cross_entropy.h"
#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "ops/reduction/reduction.h"
#include "ops/softmax/softmax.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "runtime/emulated_gpu/block.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/kernels.h"
#include "runtime/on_device.h"
#include "runtime/rng.h"
#include "runtime/stream.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};

// A grid of 2^12 or 2^16 blocks takes all rows, and packs of eight elements for each of 2^20
// threads, in whole turns: so the last blocks take the last of them.
constexpr int64_t kRows = 1 << 20, kRow = (1 << 11) + 128;
static_assert(kRows * kRow > int64_t{1} << 31 && kRows * kRow % (8 * 256 * 4096) == 0);

// As many elements in rows of more than 4096, whose sums are another kernel's
// (runtime/cuda/column_sums.h): a grid of 2^16 blocks has one for each row.
constexpr int64_t kLongRows = 1 << 16, kLongRow = (1 << 15) + 128;
static_assert(kLongRows * kLongRow > int64_t{1} << 31);
static_assert(kLongRows * kLongRow % (8 * 256 * 4096) == 0);

// Small launches prepare what others read: they run whole, as do small copies.
class LastBlocks : public emulated_gpu::Observer {
 public:
  void OnLaunch(const emulated_gpu::SeenLaunch& launch) override {
    const uint64_t blocks = launch.shape.blocks();
    const bool whole = blocks * static_cast<uint64_t>(launch.shape.threads()) <= 1 << 15;
    const uint64_t first = whole || blocks < count ? 0 : blocks - count;
    for (uint64_t block = first; block < blocks; ++block)
      emulated_gpu::RunBlock(launch.op, launch.shape, block, launch.thread);
  }
  void OnCopy(void* to, const void* from, size_t bytes, StreamHandle) override {
    if (bytes <= 1 << 24) std::memcpy(to, from, bytes);
  }
  // As many as have a row, if each of their 256 threads has one element of it.
  void TakeRow(int64_t elements) { count = static_cast<uint64_t>(elements) / 256 + 8; }
  uint64_t count = kRow / 256 + 8;
};

struct Case;

class LargeTensors : public ::testing::Test {
 protected:
  void ExpectTheLastRow(const Case& c);
  void SetUp() override {
    if (!kEmulatedGpu) GTEST_SKIP() << "no --config=emulated_gpu: NOT tested";
    observed_.emplace(last_blocks_);
  }
  LastBlocks last_blocks_;
  std::optional<emulated_gpu::Observed> observed_;
};

// Of `shape`, on the CPU, in [-1, 1).
Tensor Random(const Shape& shape, DType dtype, uint64_t seed) {
  Tensor values = Empty(shape);
  FillUniform(values, -1, 1, RandomStream({.seed = seed}));
  return values.To(dtype);
}

// `rows` of them on the GPU; the last has the values of `row`, of shape (1, ...).
Tensor WithLastRow(const Tensor& row, int64_t rows) {
  Shape shape = row.shape();
  shape[0] = rows;
  Tensor large = Empty(shape, row.dtype(), kGpu);
  auto* const end = static_cast<char*>(large.mutable_raw()) + large.bytes();
  std::memcpy(end - row.bytes(), row.raw(), row.bytes());
  return large;
}

// The last row of what the GPU has computed, on the CPU, as f32.
Tensor LastRowOf(const Tensor& large) {
  emulated_gpu::WaitForStream(CurrentStream(kGpu));
  const Tensor row = large.Narrow(0, large.dim(0) - 1, 1);
  const auto here = std::make_shared<Storage>(large.storage()->data(), large.storage()->bytes(),
                                              Device{}, large.storage());
  return Tensor(here, row.shape(), row.strides(), row.offset(), row.dtype())
      .To(DType::kF32)
      .Contiguous();
}

void ExpectNear(const Tensor& got, const Tensor& want, DType dtype, int64_t terms,
                const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<float> a = ToVector<float>(got), b = ToVector<float>(want.To(DType::kF32));
  float largest = 0;
  for (const float value : b) largest = std::max(largest, std::fabs(value));
  EXPECT_GT(largest, 0) << what << ": nothing to tell from memory that was never written";
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], testing::Tolerance(dtype, terms, largest)) << what << ", element " << i;
}

using Op = std::function<Variable(const std::vector<Variable>&)>;

// The op must treat each row by itself. `rows_of`: shapes of a row of each input, (1, ...).
struct Case {
  std::string name;
  Op op;
  std::vector<Shape> rows_of;
  DType dtype = DType::kBF16;
  int64_t rows = kRows;
  int64_t terms = 1;  // of sums within a row
  bool backward = true;
};

// The last row of the result and of the inputs' gradients.
void LargeTensors::ExpectTheLastRow(const Case& c) {
  std::vector<Variable> large, small;
  for (size_t i = 0; i < c.rows_of.size(); ++i) {
    const Tensor row = Random(c.rows_of[i], c.dtype, i + 1);
    large.emplace_back(WithLastRow(row, c.rows), c.backward);
    small.emplace_back(row, c.backward);
  }
  ASSERT_GT(large[0].numel(), int64_t{1} << 31);
  last_blocks_.TakeRow(small[0].numel());
  const Variable y = c.op(large), want = c.op(small);
  ExpectNear(LastRowOf(y.data()), want.data(), c.dtype, c.terms, c.name);
  if (!c.backward) return;
  const Tensor dy = Random(want.shape(), want.dtype(), 99);
  Backward({y}, {WithLastRow(dy, c.rows)});
  Backward({want}, {dy});
  for (size_t i = 0; i < large.size(); ++i)
    ExpectNear(LastRowOf(large[i].grad()), small[i].grad(), c.dtype, c.terms,
               fmt::format("{}, gradient {}", c.name, i));
}

TEST_F(LargeTensors, Maps) {
  const Shape row{1, kRow};
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    ExpectTheLastRow({"gelu", [](const auto& x) { return Gelu(x[0]); }, {row}, dtype});
    ExpectTheLastRow({"relu", [](const auto& x) { return Relu(x[0]); }, {row}, dtype});
    ExpectTheLastRow({"mul", [](const auto& x) { return Mul(x[0], x[1]); }, {row, row}, dtype});
  }
  ExpectTheLastRow({"cast", [](const auto& x) { return Cast(x[0], DType::kF32); }, {row}});
}

TEST_F(LargeTensors, Rows) {
  const Shape row{1, kRow};
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    ExpectTheLastRow(
        {"softmax", [](const auto& x) { return Softmax(x[0], -1); }, {row}, dtype, kRows, kRow});
    ExpectTheLastRow({"log_softmax",
                      [](const auto& x) { return LogSoftmax(x[0], -1); },
                      {row},
                      dtype,
                      kRows,
                      kRow});
    ExpectTheLastRow({"layer_norm",
                      [](const auto& x) { return LayerNorm(x[0], {kRow}); },
                      {row},
                      dtype,
                      kRows,
                      kRow});
    const Op sum = [](const auto& x) { return Sum(x[0], {1}); };
    ExpectTheLastRow({"sum", sum, {row}, dtype, kRows, kRow});
    ExpectTheLastRow({"sum of long rows", sum, {{1, kLongRow}}, dtype, kLongRows, kLongRow});
    ExpectTheLastRow({"cat",
                      [](const auto& x) {
                        return Cat({x[0], x[1]}, 1);
                      },
                      {{1, kRow / 2}, {1, kRow / 2}},
                      dtype,
                      2 * kRows});
  }
}

TEST_F(LargeTensors, Losses) {
  const auto op = [](const std::vector<Variable>& x) {
    Tensor classes = Full({x[0].dim(0)}, 5, DType::kI64);
    const Variable target(classes.To(x[0].data().device()));
    return CrossEntropy(x[0], target, {.reduction = LossReduction::kNone});
  };
  for (const DType dtype : {DType::kF32, DType::kBF16})
    ExpectTheLastRow({"cross_entropy", op, {{1, kRow}}, dtype, kRows, kRow});
}

// Rows of shape (H, W, C), of whole packs and of none.
TEST_F(LargeTensors, Images) {
  constexpr int64_t kImages = 1 << 18;
  for (const auto& [channels, dtype] :
       {std::pair<int64_t, DType>{136, DType::kBF16}, {129, DType::kF32}}) {
    const Shape image{1, 8, 8, channels};
    const auto expect = [&](const std::string& name, int64_t terms, const Op& op) {
      ExpectTheLastRow({name, op, {image}, dtype, kImages, terms});
    };
    expect("max_pool", 1, [](const auto& x) {
      return MaxPool2d(x[0], {.kernel_size = {3}, .stride = {2}, .padding = {1}});
    });
    expect("avg_pool", 9, [](const auto& x) {
      return AvgPool2d(x[0], {.kernel_size = {3}, .stride = {2}, .padding = {1}});
    });
    expect("batch_norm", 1, [&](const auto& x) {
      const Device device = x[0].data().device();
      const auto all = [&](double v) { return Full({channels}, v).To(device); };
      return BatchNormEval(x[0], all(0.1), all(2), Variable(all(1.5)), Variable(all(0.2)), 1e-5,
                           Activation::kRelu);
    });
    expect("depthwise", 9, [&](const auto& x) {
      const Variable weight(Random({channels, 3, 3, 1}, dtype, 7).To(x[0].data().device()));
      return Conv2d(x[0], weight, {}, {.padding = {1, 1}, .groups = channels});
    });
  }
}

TEST_F(LargeTensors, Dropout) {
  // The samples' numbers are those of the last rows.
  const auto op = [](const std::vector<Variable>& x) {
    StepContext context{.seed = 3};
    for (int64_t i = 0; i < x[0].dim(0); ++i) context.samples.push_back(kRows - x[0].dim(0) + i);
    return ops::Dropout(x[0], 0.3, context, 4);
  };
  for (const DType dtype : {DType::kF32, DType::kBF16})
    ExpectTheLastRow({"dropout", op, {{1, kRow}}, dtype});
}

TEST_F(LargeTensors, Attention) {
  const auto op = [](const std::vector<Variable>& x) {
    const bool on_gpu = x[0].data().device() == kGpu;
    const WithPrecision precision(on_gpu ? Precision(DType::kBF16, MatmulMode::kNative)
                                         : Precision());
    return ScaledDotProductAttention(x[0], x[1], x[2]);
  };
  const Shape heads{1, 16, 128, 64};
  ExpectTheLastRow(
      {"attention", op, {heads, heads, heads}, DType::kBF16, (1 << 14) + (1 << 6), 64 + 128});
}

TEST_F(LargeTensors, Embeddings) {
  const Tensor row = Random({1, 1024}, DType::kBF16, 1);
  const int64_t rows = (1 << 21) + (1 << 13);
  const Variable table(WithLastRow(row, rows), true);
  const Variable ids(FromVector<int64_t>({rows - 1, 3, rows - 1}, {3}).To(kGpu));
  const Variable y = Embedding(ids, table);
  ExpectNear(LastRowOf(y.data()), row, DType::kBF16, 1, "embedding");
  Backward({y}, {Full({3, 1024}, 1, DType::kBF16).To(kGpu)});
  ExpectNear(LastRowOf(table.grad()), Full({1, 1024}, 2), DType::kBF16, 2, "its gradient");
}

TEST_F(LargeTensors, Transpositions) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const Tensor row = Random({1, kRow}, dtype, 1);
    const Tensor turned = WithLastRow(row, kRows).Transpose(0, 1).Contiguous();
    const Tensor last = LastRowOf(turned);
    EXPECT_EQ(last.data<float>()[kRows - 1], row.To(DType::kF32).data<float>()[kRow - 1]);
  }
}

TEST_F(LargeTensors, Fills) {
  const Tensor large = Full({kRows, kRow}, 1.5, DType::kF32, kGpu);
  EXPECT_EQ(LastRowOf(large).data<float>()[kRow - 1], 1.5f);
}

}  // namespace
}  // namespace torus::ops
