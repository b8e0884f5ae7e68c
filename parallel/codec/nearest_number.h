// NearestNumber: finds the nearest of up to 256 ascending numbers, with a table indexed by the
// upper bits of a float32. Highway picks the vector width; every width gives the same places.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace torus::parallel {

class NearestNumber {
 public:
  // The table has an entry for each sign, exponent and upper four bits of a mantissa, in the order
  // of the values; -0 is below 0.
  static constexpr int kShift = 19;

  // At least one number, finite, in ascending order.
  explicit NearestNumber(std::span<const float> numbers);

  // Sets places[i] to the index of the number nearest to values[i] * factor, a product in float64
  // rounded to float32; the lower of two equally near. The values must be finite, and so must the
  // products.
  void Find(std::span<const float> values, double factor, uint16_t* places) const;

  // The middles between neighbouring numbers, rounded down, then infinity. The index of a value is
  // the number of middles below it.
  std::span<const float> middles() const { return middles_; }

 private:
  std::vector<float> middles_;
  std::vector<int32_t> first_;  // for each table entry: the index for its least value
};

}  // namespace torus::parallel
