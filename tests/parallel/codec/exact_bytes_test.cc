// How many bytes each codec writes, from the wire formats that the headers state.
#include <gtest/gtest.h>

#include "parallel/codec/make_codec.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/parallel/codec/round_trip.h"

namespace torus::parallel {
namespace {

size_t Packed(size_t count, size_t bits) { return (count * bits + 7) / 8; }
size_t Ceil(double of) { return static_cast<size_t>(std::ceil(of)); }

size_t Sortq(size_t n, size_t q, size_t s) { return 8 + 8 * (size_t{1} << s) + Packed(n, q + s); }
size_t Uniform(size_t n, size_t bits) { return 8 + Packed(n, bits); }
size_t KMeans(size_t n, size_t bits) { return 4 * (size_t{1} << bits) + Packed(n, bits); }

// The kept numbers as a bit for each, or as a list.
size_t Indices(size_t n, size_t kept) {
  size_t bits = 1;
  while ((size_t{1} << bits) < n) ++bits;
  return std::min(Packed(n, 1), Packed(kept, bits));
}

// Padded to whole blocks of 2^m values, at most 1024.
size_t Rotated(size_t n) {
  size_t block = 1;
  while (block < n && block < 1024) block *= 2;
  return (n + block - 1) / block * block;
}

// A matrix of 216 x 35 where the shape allows factors; one row of n does not.
const Shape kShape{24, 9, 7, 5};
constexpr size_t kOfShape = 24 * 9 * 7 * 5;
size_t Factors(size_t rank) { return 4 * rank * (216 + 35); }

struct Format {
  const char* codec;
  size_t (*flat)(size_t n);  // a vector of n values
  size_t in_shape;           // a tensor of kShape
};

const Format kFormats[] = {
    {"none", [](size_t n) { return 4 * n; }, 4 * kOfShape},
    {"sortq:16", [](size_t n) { return Sortq(n, 12, 4); }, Sortq(kOfShape, 12, 4)},
    {"sortq:12", [](size_t n) { return Sortq(n, 9, 3); }, Sortq(kOfShape, 9, 3)},
    {"sortq:8", [](size_t n) { return Sortq(n, 6, 2); }, Sortq(kOfShape, 6, 2)},
    {"sortq:4", [](size_t n) { return Sortq(n, 3, 1); }, Sortq(kOfShape, 3, 1)},
    {"sortq:Q5S3", [](size_t n) { return Sortq(n, 5, 3); }, Sortq(kOfShape, 5, 3)},
    {"uniform:1", [](size_t n) { return Uniform(n, 1); }, Uniform(kOfShape, 1)},
    {"uniform:5", [](size_t n) { return Uniform(n, 5); }, Uniform(kOfShape, 5)},
    {"uniform:8", [](size_t n) { return Uniform(n, 8); }, Uniform(kOfShape, 8)},
    {"uniform:4:stochastic", [](size_t n) { return Uniform(n, 4); }, Uniform(kOfShape, 4)},
    {"f16", [](size_t n) { return 2 * n; }, 2 * kOfShape},
    {"bf16", [](size_t n) { return 2 * n; }, 2 * kOfShape},
    {"f8:e4m3", [](size_t n) { return 4 + n; }, 4 + kOfShape},
    {"f8:e5m2", [](size_t n) { return 4 + n; }, 4 + kOfShape},
    {"dynamic8:256", [](size_t n) { return 4 * ((n + 255) / 256) + n; }, 4 * 30 + kOfShape},
    {"kmeans:4", [](size_t n) { return KMeans(n, 4); }, KMeans(kOfShape, 4)},
    {"kmeans:3", [](size_t n) { return KMeans(n, 3); }, KMeans(kOfShape, 3)},
    {"topk:0.25", [](size_t n) { return Indices(n, Ceil(0.25 * n)) + 4 * Ceil(0.25 * n); },
     Indices(kOfShape, kOfShape / 4) + kOfShape},
    {"randk:0.01", [](size_t n) { return Indices(n, Ceil(0.01 * n)) + 4 * Ceil(0.01 * n); },
     Indices(kOfShape, 76) + 4 * 76},
    {"topk:0.25+uniform:8",
     [](size_t n) { return Indices(n, Ceil(0.25 * n)) + Uniform(Ceil(0.25 * n), 8); },
     Indices(kOfShape, kOfShape / 4) + Uniform(kOfShape / 4, 8)},
    {"hadamard+uniform:4", [](size_t n) { return Uniform(Rotated(n), 4); },
     Uniform(Rotated(kOfShape), 4)},
    {"svd:8", [](size_t n) { return 4 * n; }, Factors(8)},
    {"powersgd:2", [](size_t n) { return 4 * n; }, Factors(2)},
    // A byte, then 24 samples of 315 values or 5 channels of 1512, each with its own range.
    {"uniform:4/sample", [](size_t n) { return 1 + 9 * n; }, 1 + 24 * Uniform(315, 4)},
    {"sortq:8/channel", [](size_t n) { return 1 + Sortq(n, 6, 2); }, 1 + 5 * Sortq(1512, 6, 2)},
    {"uniform:8/chunk:1000", [](size_t n) { return 1 + n + 8 * ((n + 999) / 1000); },
     1 + kOfShape + 8 * 8},
};

TEST(ExactBytes, OfVectorsAreTheFormats) {
  for (const Format& format : kFormats)
    for (const size_t n : {1u, 2u, 64u, 1000u, 5003u}) {
      SCOPED_TRACE(fmt::format("{}, {} values", format.codec, n));
      const auto codec = MakeCodec(format.codec);
      EXPECT_EQ(EncodeFlat(*codec, Draw("normal", n, 4)).size(), format.flat(n));
    }
}

TEST(ExactBytes, OfTensorsAreTheFormats) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(format.codec);
    const auto codec = MakeCodec(format.codec);
    const std::vector<float> values = Draw("normal", kOfShape, 4);
    EXPECT_EQ(EncodeIn(*codec, {.shape = kShape}, values).size(), format.in_shape);
  }
}

}  // namespace
}  // namespace torus::parallel
