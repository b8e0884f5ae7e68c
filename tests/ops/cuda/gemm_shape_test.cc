// Descriptions of products differ wherever what cuBLASLt is told differs.
#include "ops/cuda/gemm_shape.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "ops/cuda/plans.h"

namespace torus::cuda {
namespace {

using Change = std::function<void(GemmShape&)>;

GemmShape Shape() {
  return {.in = DType::kBF16,
          .out = DType::kBF16,
          .m = 64,
          .n = 32,
          .k = 16,
          .a = {16},
          .b = {32},
          .c = {32}};
}

const std::vector<Change>& Changes() {
  static const std::vector<Change> changes{
      [](auto& s) { s.in = DType::kF16; },
      [](auto& s) { s.out = DType::kF32; },
      [](auto& s) { s.tf32 = true; },
      [](auto& s) { s.m = 65; },
      [](auto& s) { s.n = 33; },
      [](auto& s) { s.k = 17; },
      [](auto& s) { s.batch = 2; },
      [](auto& s) { s.a.stride = 24; },
      [](auto& s) { s.b.stride = 40; },
      [](auto& s) { s.c.stride = 40; },
      [](auto& s) { s.a.batch_stride = 8; },
      [](auto& s) { s.b.batch_stride = 8; },
      [](auto& s) { s.c.batch_stride = 8; },
      [](auto& s) { s.a.transposed = true; },
      [](auto& s) { s.b.transposed = true; },
      [](auto& s) { s.a.alignment = 2; },
      [](auto& s) { s.b.alignment = 2; },
      [](auto& s) { s.c.alignment = 2; },
      [](auto& s) { s.scaled = true; },
      [](auto& s) { s.adds = true; },
      [](auto& s) { s.added_alignment = 2; },
      [](auto& s) { s.epilogue = EpilogueKind::kGelu; },
      [](auto& s) { s.epilogue = EpilogueKind::kGeluGradient; },
      [](auto& s) { s.epilogue = EpilogueKind::kSumsOfA; },
      [](auto& s) { s.epilogue = EpilogueKind::kSumsOfB; },
      [](auto& s) { s.biased = true; },
      [](auto& s) { s.with_matrix = true; },
      [](auto& s) { s.matrix_stride = 32; },
      [](auto& s) { s.vector_alignment = 2; },
      [](auto& s) { s.result_alignment = 2; }};
  return changes;
}

TEST(GemmShape, DiffersWithEachPartAlsoAsText) {
  std::set<GemmShape> shapes{Shape(), Shape()};
  std::set<std::string> texts{TextOf(Shape()), TextOf(Shape())};
  for (const Change& change : Changes()) {
    GemmShape shape = Shape();
    change(shape);
    EXPECT_TRUE(shapes.insert(shape).second) << TextOf(shape);
    EXPECT_TRUE(texts.insert(TextOf(shape)).second) << TextOf(shape);
  }
  EXPECT_EQ(texts.size(), Changes().size() + 1);
}

// Addresses are never followed.
template <class T>
T* At(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

GemmCall<BFloat16> Call() {
  return {.m = 8,
          .n = 24,
          .k = 16,
          .a = {At<BFloat16>(0x1000), 16, true},
          .b = {At<BFloat16>(0x2010), 24},
          .c = {At<BFloat16>(0x3000), 24}};
}

TEST(GemmShape, IsThatOfTheCall) {
  GemmCall<BFloat16> call = Call();
  call.added = At<BFloat16>(0x4020);
  call.beta = 1;
  call.bias = At<BFloat16>(0x5004);
  const GemmShape shape = ShapeOf(call, {}, true);
  const GemmShape want{.in = DType::kBF16,
                       .out = DType::kBF16,
                       .m = 8,
                       .n = 24,
                       .k = 16,
                       .a = {16, 0, true, 256},
                       .b = {24, 0, false, 16},
                       .c = {24, 0, false, 256},
                       .adds = true,
                       .added_alignment = 32,
                       .biased = true,
                       .vector_alignment = 4,
                       .result_alignment = 4};
  EXPECT_EQ(TextOf(shape), TextOf(want));
  EXPECT_TRUE(shape == want);
}

TEST(GemmShape, HasTheMatrixAndTheVectorOfTheEpilogue) {
  BFloat16* const extra = At<BFloat16>(0x6008);
  const GemmShape gelu =
      ShapeOf(Call(), {.kind = EpilogueKind::kGelu, .out = extra, .stride = 24}, false);
  EXPECT_TRUE(gelu.with_matrix);
  EXPECT_EQ(gelu.matrix_stride, 24);
  EXPECT_EQ(gelu.result_alignment, 8u);
  EXPECT_EQ(gelu.vector_alignment, 256u);
  const GemmShape alone = ShapeOf(Call(), {.kind = EpilogueKind::kGelu, .stride = 24}, false);
  EXPECT_FALSE(alone.with_matrix);
  const GemmShape sums = ShapeOf(Call(), {.kind = EpilogueKind::kSumsOfA, .out = extra}, false);
  EXPECT_FALSE(sums.with_matrix);
  EXPECT_EQ(sums.vector_alignment, 8u);
}

TEST(GemmShape, OnlyF32IsReadAsTf32) {
  const GemmCall<float> call{
      .m = 1, .n = 1, .k = 1, .a = {nullptr, 1}, .b = {nullptr, 1}, .c = {nullptr, 1}};
  EXPECT_TRUE(ShapeOf(call, {}, true).tf32);
  EXPECT_FALSE(ShapeOf(Call(), {}, true).tf32);
}

TEST(GemmShape, HasANameForPeople) {
  GemmShape shape = Shape();
  EXPECT_EQ(NameOf(shape), "product bf16 64 x 16 x 32");
  shape.out = DType::kF32;
  shape.batch = 3;
  shape.biased = true;
  shape.epilogue = EpilogueKind::kGelu;
  EXPECT_EQ(NameOf(shape), "product bf16 to f32 3 of 64 x 16 x 32 with bias with GELU");
}

TEST(IsAligned, WantsRowsAtMultiplesOfSixteenBytesForTensorCores) {
  EXPECT_TRUE(IsAligned(Shape()));
  const auto with = [](const Change& change) {
    GemmShape shape = Shape();
    change(shape);
    return IsAligned(shape);
  };
  EXPECT_FALSE(with([](auto& s) { s.a.stride = 20; }));
  EXPECT_FALSE(with([](auto& s) { s.b.stride = 36; }));
  EXPECT_FALSE(with([](auto& s) { s.c.stride = 33; }));
  EXPECT_FALSE(with([](auto& s) { s.b.alignment = 8; }));
  EXPECT_TRUE(with([](auto& s) { s.out = DType::kF32, s.c.stride = 36; }));
  const auto f32 = [](auto& s) { s.in = s.out = DType::kF32, s.a.stride = 17; };
  EXPECT_TRUE(with(f32)) << "which no tensor core reads";
  EXPECT_FALSE(with([&](auto& s) { f32(s), s.tf32 = true; }));
}

TEST(CountSlowOrNone, NamesThem) {
  Plans plans;
  const WithPlans with(&plans);
  GemmShape shape = Shape();
  CountSlowOrNone(shape, true);
  EXPECT_TRUE(plans.counts().fallbacks.empty());
  CountSlowOrNone(shape, false);
  shape.a.stride = 17;
  CountSlowOrNone(shape, true);
  EXPECT_EQ(plans.counts().fallbacks,
            (std::map<std::string, int64_t>{{"product bf16 64 x 16 x 32", 1},
                                            {"product bf16 64 x 16 x 32, not aligned", 1}}));
}

}  // namespace
}  // namespace torus::cuda
