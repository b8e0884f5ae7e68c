// Lab "buckets": fill in the class, as lab_buckets.h explains. Then grade it:
//   ./bazelw run //tools/labs:grade -- buckets my_buckets.cc
#include <vector>

#include "lab_buckets.h"

namespace lab {
namespace {

class MyBuckets : public Buckets {
 public:
  MyBuckets(std::span<const std::span<float>> gradients, size_t bucket_bytes, Sums& sums)
      : gradients_(gradients), sums_(sums) {
    // TODO: cut the parameters into buckets, from the last one to the first.

    (void)bucket_bytes;  // remove this line
  }

  void GradientIsReady(size_t parameter) override {
    // TODO: put the gradient into its bucket; start the sum of each bucket that the backward has
    // passed.

    (void)parameter;  // remove this line
  }

  void Finish() override {
    // TODO: start the remaining sums, wait for all sums, write the means back.
  }

 private:
  const std::span<const std::span<float>> gradients_;
  Sums& sums_;
};

}  // namespace

std::unique_ptr<Buckets> MakeBuckets(std::span<const std::span<float>> gradients,
                                     size_t bucket_bytes, Sums& sums) {
  return std::make_unique<MyBuckets>(gradients, bucket_bytes, sums);
}

}  // namespace lab
