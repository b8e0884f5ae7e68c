#include "parallel/codec/low_rank.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "parallel/codec/factors.h"
#include "parallel/codec/make_codec.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/parallel/codec/round_trip.h"

namespace torus::parallel {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::MatrixXd MatrixOf(const std::vector<float>& values, MatrixForm form) {
  return Eigen::Map<const Matrix>(values.data(), form.rows, form.columns).cast<double>();
}

// Values whose singular values fall off, as activations' do.
std::vector<float> Draw2d(MatrixForm form, uint32_t seed) {
  const std::vector<float> noise =
      Draw("normal", static_cast<size_t>(form.rows * form.columns), seed);
  const std::vector<float> a = Draw("normal", static_cast<size_t>(form.rows), seed + 1);
  const std::vector<float> b = Draw("normal", static_cast<size_t>(form.columns), seed + 2);
  std::vector<float> values(noise.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 0.3f * noise[i] + 2 * a[i / form.columns] * b[i % form.columns];
  return values;
}

double Norm(const Eigen::MatrixXd& matrix) { return matrix.norm(); }

// The least squared error that `rank` admits: of the singular values left out.
double LeastError(const Eigen::MatrixXd& matrix, int64_t rank) {
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues();
  return values.tail(std::max<int64_t>(0, values.size() - rank)).norm();
}

double ErrorOf(Codec& codec, const CodecContext& context, const std::vector<float>& values) {
  const MatrixForm form = MatrixFormOf(context.shape);
  const std::vector<float> back = DecodeIn(codec, context, EncodeIn(codec, context, values));
  return Norm(MatrixOf(back, form) - MatrixOf(values, form));
}

// Rounding: each number of the factors by 2^-24 of itself, which changes the product by as much of
// its norm for each of the two.
double Rounding(const std::vector<float>& values, MatrixForm form) {
  return 4 * std::ldexp(Norm(MatrixOf(values, form)), -24);
}

TEST(MatrixForm, HasTheFewestRowsAndColumns) {
  const auto form = [](const Shape& shape) {
    const MatrixForm f = MatrixFormOf(shape);
    return std::pair(f.rows, f.columns);
  };
  EXPECT_EQ(form({64, 8, 8, 32}), std::pair(int64_t{512}, int64_t{256}));
  EXPECT_EQ(form({100}), std::pair(int64_t{1}, int64_t{100}));
  EXPECT_EQ(form({}), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(form({0, 5}), std::pair(int64_t{1}, int64_t{0}));
}

TEST(LowRank, SvdIsTheNearestMatrixOfItsRank) {
  for (const Shape& shape : {Shape{40, 31}, Shape{17, 90}, Shape{6, 4, 5, 8}})
    for (int64_t rank : {1, 2, 8}) {
      const auto codec = MakeCodec(fmt::format("svd:{}", rank));
      const MatrixForm form = MatrixFormOf(shape);
      const std::vector<float> values = Draw2d(form, 3);
      const double least = LeastError(MatrixOf(values, form), rank);
      const double error = ErrorOf(*codec, {.shape = shape}, values);
      EXPECT_LE(error, least + Rounding(values, form)) << fmt::format("{}, rank {}", shape, rank);
      EXPECT_GE(error, least - Rounding(values, form)) << fmt::format("{}, rank {}", shape, rank);
    }
}

TEST(LowRank, WhatDoesNotPayGoesAsItIs) {
  const std::vector<float> values = Draw("normal", 30, 1);
  for (const char* name : {"svd:8", "powersgd:8"}) {
    const auto codec = MakeCodec(name);
    EXPECT_EQ(codec->MaxTensorBytes({5, 6}), 120u);
    EXPECT_EQ(ErrorOf(*codec, {.shape = {5, 6}}, values), 0);
  }
}

TEST(LowRank, PowerSgdIsAProjectionAndWarmsUpToSvd) {
  const Shape shape{48, 40};
  const MatrixForm form = MatrixFormOf(shape);
  const std::vector<float> values = Draw2d(form, 5);
  const auto codec = MakeCodec("powersgd:2");
  const double norm = Norm(MatrixOf(values, form)), least = LeastError(MatrixOf(values, form), 2);
  CodecMemory memory;
  CodecContext context{.shape = shape, .memory = &memory};
  double before = norm;
  for (context.step = 0; context.step < 60; ++context.step) {
    const double error = ErrorOf(*codec, context, values);
    EXPECT_GE(error, least - Rounding(values, form));
    EXPECT_LE(error, before + Rounding(values, form)) << "step " << context.step;
    before = error;
  }
  EXPECT_LT(before, 1.01 * least) << "the power method goes to the leading vectors";
  EXPECT_FALSE(memory.empty());
}

TEST(LowRank, EvaluationRemembersNothing) {
  const auto codec = MakeCodec("powersgd:2");
  CodecMemory memory;
  const CodecContext context{.shape = {20, 20}, .training = false, .memory = &memory};
  EncodeIn(*codec, context, Draw("normal", 400, 1));
  EXPECT_TRUE(memory.parts["first"].empty());
}

// Of a matrix of rank 1 the second column has nothing to do, and must not become noise.
TEST(LowRank, RankAboveTheMatrixsOwn) {
  std::vector<float> values;
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 20; ++j) values.push_back(static_cast<float>((i - 3) * (j + 1)));
  for (const char* name : {"powersgd:3", "svd:3"}) {
    const auto codec = MakeCodec(name);
    CodecMemory memory;
    const CodecContext context{.shape = {30, 20}, .memory = &memory};
    for (int step = 0; step < 3; ++step)
      EXPECT_LE(ErrorOf(*codec, context, values), Rounding(values, {30, 20})) << name;
  }
}

}  // namespace
}  // namespace torus::parallel
