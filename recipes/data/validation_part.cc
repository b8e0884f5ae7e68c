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

// Example i of the part is example examples[i] of `whole`.
DataPart PartOf(DataPart whole, std::vector<int64_t> examples) {
  whole.size = std::ssize(examples);
  whole.batches = [batches = std::move(whole.batches),
                   examples = std::make_shared<const std::vector<int64_t>>(std::move(examples))](
                      const data::MicroBatch& part) {
    data::MicroBatch of_all = part;
    for (int64_t& index : of_all.indices) index = examples->at(static_cast<size_t>(index));
    if (part.next >= 0) of_all.next = examples->at(static_cast<size_t>(part.next));
    return batches(of_all);
  };
  return whole;
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

DataPart Divide(HeldOut parts, DataPart whole, DataPart& train) {
  train = PartOf(std::move(train), std::move(parts.training));
  return PartOf(std::move(whole), std::move(parts.validation));
}

}  // namespace torus::recipes
