#include "parallel/pipeline/tensor_link.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

// Of the last cut: each micro-batch of each cut has a number of its own.
TEST(TensorLink, NumbersNoMoreMessagesThanThereAreTags) {
  constexpr int kMost = (3 << 22) / 2;
  const auto link = [](int cut, int micro_batches) {
    TensorLink::Options options;
    options.cut = cut;
    return TensorLink(options, {}, micro_batches);
  };
  EXPECT_NO_THROW(link(kMost - 1, 1));
  EXPECT_NO_THROW(link(kMost / 1024 - 1, 1024));
  EXPECT_THROW(link(kMost, 1), BadInput);
  EXPECT_THROW(link(kMost / 1024, 1024), BadInput);
}

}  // namespace
}  // namespace torus::parallel
