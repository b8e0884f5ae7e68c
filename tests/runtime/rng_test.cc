#include "runtime/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "runtime/parallel_for.h"

namespace torus {
namespace {

// The known-answer vectors for "philox4x32 10" that Random123 publishes in tests/kat_vectors.
TEST(Philox, PublishedKnownAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(HashName, IsFnv1a) {
  EXPECT_EQ(HashName(""), 0xcbf29ce484222325u);
  EXPECT_EQ(HashName("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(HashName("foobar"), 0x85944171f73967e8u);
}

TEST(RandomStream, EveryPartOfTheKeyMatters) {
  std::set<uint32_t> first;
  for (uint64_t bit : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40}) {
    for (int part = 0; part < 4; ++part) {
      RandomKey key{7, 7, 7, 7};
      uint64_t* parts[] = {&key.seed, &key.step, &key.layer, &key.sample};
      *parts[part] ^= bit;
      first.insert(RandomStream(key).Word(0));
    }
  }
  EXPECT_EQ(first.size(), 1u + 2 * 4);
}

TEST(RandomStream, SwappedPartsAreOtherStreams) {
  EXPECT_NE(RandomStream({1, 2, 3, 4}).Word(0), RandomStream({2, 1, 3, 4}).Word(0));
  EXPECT_NE(RandomStream({1, 2, 3, 4}).Word(0), RandomStream({1, 2, 4, 3}).Word(0));
  EXPECT_NE(RandomStream({1, 2, 3, 4}).Word(0), RandomStream({3, 4, 1, 2}).Word(0));
}

TEST(RandomStream, IsThatOfAnotherStep) {
  const RandomKey key{.seed = 1, .step = 2, .layer = 3, .sample = 4};
  RandomKey later = key;
  later.step = 9;
  const RandomStream stream(key);
  EXPECT_EQ(stream.InStep(9).Word(5), RandomStream(later).Word(5));
  EXPECT_EQ(stream.InStep(9).InStep(2).Word(5), stream.Word(5));
  EXPECT_NE(stream.InStep(9).Word(5), stream.Word(5));
}

TEST(RandomStream, BlockHoldsFourWords) {
  const RandomStream stream({5});
  for (uint64_t i : {0u, 1u, 2u, 3u, 4u, 4001u})
    EXPECT_EQ(stream.Word(i), stream.Block(i / 4)[i % 4]);
}

// Mean and variance of n draws stay within five standard errors; 1/12 and 1/180 are a uniform's
// variance and that of its square about the mean.
TEST(RandomStream, UniformMoments) {
  const RandomStream stream({11});
  const int n = 100000;
  double sum = 0, square = 0;
  for (int i = 0; i < n; ++i) {
    const double u = stream.Uniform64(i), f = stream.Uniform(i);
    ASSERT_TRUE(u >= 0 && u < 1 && f >= 0 && f < 1);
    sum += u;
    square += (u - 0.5) * (u - 0.5);
  }
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(square / n, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / n));
}

// A standard normal's first, second and fourth moments have variances 1, 2 and 96.
TEST(RandomStream, NormalMoments) {
  const RandomStream stream({12});
  const int n = 100000;
  double sum = 0, square = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double z = stream.Normal(i);
    sum += z;
    square += z * z;
    fourth += z * z * z * z;
  }
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(1.0 / n));
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96.0 / n));
}

TEST(RandomStream, BelowCoversItsRangeEvenly) {
  const RandomStream stream({13});
  const int n = 70000, bound = 7;
  std::vector<int> seen(bound);
  for (int i = 0; i < n; ++i) ++seen.at(stream.Below(i, bound));
  for (int count : seen) EXPECT_NEAR(count, n / bound, 5 * std::sqrt(n / bound * 6.0 / 7));
  EXPECT_EQ(stream.Below(3, 1), 0u);
  EXPECT_THROW(stream.Below(0, 0), BadInput);
}

template <class T>
std::vector<T> Filled(int threads, int64_t n, bool normal) {
  SetTeamSize(threads);
  Tensor out({n}, kDTypeOf<T>);
  const RandomStream stream({17, 1, 2, 3});
  normal ? FillNormal(out, 2, 3, stream) : FillUniform(out, -1, 4, stream);
  return ToVector<T>(out);
}

TEST(Fill, IsTheSameForAnyNumberOfThreads) {
  for (int64_t n : {0, 1, 2, 3, 5, 10007}) {
    for (bool normal : {false, true}) {
      EXPECT_EQ(Filled<float>(1, n, normal), Filled<float>(3, n, normal));
      EXPECT_EQ(Filled<double>(1, n, normal), Filled<double>(4, n, normal));
    }
  }
}

TEST(Fill, ElementComesFromItsIndex) {
  const RandomStream stream({17, 1, 2, 3});
  const auto uniform = Filled<float>(2, 1001, false);
  const auto uniform64 = Filled<double>(2, 1001, false);
  const auto normal = Filled<double>(2, 1001, true);
  const auto normal32 = Filled<float>(2, 1001, true);
  for (size_t i = 0; i < 1001; ++i) {
    EXPECT_EQ(uniform[i], static_cast<float>(-1 + 5.0 * stream.Uniform(i)));
    EXPECT_EQ(uniform64[i], -1 + 5.0 * stream.Uniform64(i));
    EXPECT_EQ(normal[i], 2 + 3 * stream.Normal(i));
    EXPECT_EQ(normal32[i], static_cast<float>(2 + 3 * stream.Normal(i)));
  }
}

// Across the lower half of the counter too.
TEST(RandomStream, ManyBlocksAreTheSameBlocks) {
  const RandomStream stream({1, 2, 3, 4});
  for (uint64_t first : {uint64_t{0}, uint64_t{5}, (uint64_t{1} << 32) - 3}) {
    std::vector<uint32_t> words(4 * 19);
    stream.Blocks(first, 19, words.data());
    for (size_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], stream.Word(4 * first + i));
  }
}

// In f32, 1 + u rounds to 2 for the largest u: the interval must stay half open.
TEST(Fill, UniformStaysBelowHigh) {
  Tensor out = Empty({4000000});
  FillUniform(out, 1 << 20, (1 << 20) + 1, RandomStream({1}));
  for (float v : ToVector<float>(out)) ASSERT_LT(v, (1 << 20) + 1);
  FillUniform(out, 3, 3, RandomStream({1}));
  EXPECT_EQ(out.Narrow(0, 0, 1).Item(), 3);
}

TEST(Fill, RefusesWhatItCannotFill) {
  Tensor whole = Zeros({2, 3});
  Tensor strided = whole.Transpose(0, 1);
  EXPECT_THROW(FillUniform(strided, 0, 1, RandomStream({1})), BadInput);
  Tensor integers({3}, DType::kI64);
  EXPECT_THROW(FillNormal(integers, 0, 1, RandomStream({1})), BadInput);
}

}  // namespace
}  // namespace torus
