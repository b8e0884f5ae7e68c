#include "recipes/data/validation_part.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "data/loading/sampler.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::recipes {
namespace {

int64_t CountOf(int64_t size, double validation, const char* what) {
  const int64_t count = std::llround(validation * static_cast<double>(size));
  Require(count >= 1 && count < size, "train",
          "--validation {} leaves {} of {} training {} to validate on; it must leave at least one "
          "there and one to train on",
          validation, count, size, what);
  return count;
}

}  // namespace

HeldOut HoldOut(int64_t size, double validation) {
  const int64_t count = CountOf(size, validation, "examples");
  const std::vector<int64_t> order = data::ShuffledOrder(size, HashName("validation"), 0);
  HeldOut parts{{order.begin() + count, order.end()}, {order.begin(), order.begin() + count}};
  std::ranges::sort(parts.training);
  std::ranges::sort(parts.validation);
  return parts;
}

int64_t TokensToTrainOn(int64_t tokens, double validation) {
  return tokens - CountOf(tokens, validation, "tokens");
}

data::MakeBatch BatchesOf(data::MakeBatch batches, std::vector<int64_t> examples) {
  return [batches = std::move(batches), examples = std::make_shared<const std::vector<int64_t>>(
                                            std::move(examples))](const data::MicroBatch& part) {
    data::MicroBatch of_all = part;
    for (int64_t& index : of_all.indices) index = examples->at(static_cast<size_t>(index));
    if (part.next >= 0) of_all.next = examples->at(static_cast<size_t>(part.next));
    return batches(of_all);
  };
}

}  // namespace torus::recipes
