#include "parallel/codec/nearest_number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "parallel/codec/dynamic8.h"
#include "tests/testing/twins.h"

namespace torus::parallel {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The number of middles below the value. They are exact: a long double has 64 bits.
uint16_t PlaceOf(std::span<const float> numbers, float value) {
  uint16_t place = 0;
  for (size_t i = 0; i + 1 < numbers.size(); ++i)
    if (value > ((long double){numbers[i]} + numbers[i + 1]) / 2) ++place;
  return place;
}

std::vector<std::vector<float>> Codebooks() {
  const std::span<const float> dynamic = Dynamic8::Numbers();
  std::vector<std::vector<float>> books{
      {dynamic.begin(), dynamic.end()}, {0}, {-1}, {2, 2}, {-kMost, 0, kMost},
      {-1, -1, 0, 0, 0, 1e-3f, 1}};
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> close, tiny;
  for (int i = 0; i < 256; ++i) {
    close.push_back(1 + 1e-4f * normal(random));  // all in a few entries of the table
    tiny.push_back(1e-42f * normal(random));
  }
  for (std::vector<float> book : {close, tiny}) {
    std::ranges::sort(book);
    books.push_back(book);
  }
  return books;
}

std::vector<float> Values(std::span<const float> numbers) {
  std::vector<float> values{0.0f, -0.0f, kMost, -kMost, 1e-45f, -1e-45f};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const float next = numbers[std::min(i + 1, numbers.size() - 1)];
    for (const float x : {numbers[i], numbers[i] / 2 + next / 2})
      for (const float y : {x, std::nextafter(x, kInfinity), std::nextafter(x, -kInfinity)})
        if (std::isfinite(y)) values.push_back(y);
  }
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 1048573) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

TEST(NearestNumber, IsThatOfComparingWithAll) {
  for (const std::vector<float>& numbers : Codebooks()) {
    const NearestNumber nearest(numbers);
    const std::vector<float> values = Values(numbers);
    testing::ForEachVectorWidth([&] {
      std::vector<uint16_t> places(values.size());
      nearest.Find(values, 1, places.data());
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(places[i], PlaceOf(numbers, values[i]))
            << values[i] << " among " << numbers.size() << " numbers from " << numbers[0];
    });
  }
}

TEST(NearestNumber, IsThatOfTheProductRoundedOnce) {
  const std::span<const float> numbers = Dynamic8::Numbers();
  const NearestNumber nearest(numbers);
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-3, 3);
  std::vector<float> values(1001);
  for (float& value : values) value = uniform(random);
  for (const double factor : {1 / 3.0, 1e-3 / 3, 1e-45})
    testing::ForEachVectorWidth([&] {
      std::vector<uint16_t> places(values.size());
      nearest.Find(values, factor, places.data());
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(places[i], PlaceOf(numbers, static_cast<float>(values[i] * factor))) << values[i];
    });
}

TEST(NearestNumber, IsFoundForAnyCount) {
  const std::vector<float> numbers{-2, 0, 1, 5};
  const NearestNumber nearest(numbers);
  testing::ForEachVectorWidth([&] {
    for (size_t count = 0; count <= 40; ++count) {
      std::vector<float> values;
      for (size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 9) - 3);
      std::vector<uint16_t> places(count + 1, 99);
      nearest.Find(values, 1, places.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(places[i], PlaceOf(numbers, values[i]));
      ASSERT_EQ(places[count], 99);
    }
  });
}

}  // namespace
}  // namespace torus::parallel
