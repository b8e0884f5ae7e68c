#include "data/loading/sampler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::data {

std::vector<int64_t> ShuffledOrder(int64_t size, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(size);
  std::iota(order.begin(), order.end(), int64_t{0});
  const RandomStream stream({.seed = seed,
                             .step = static_cast<uint64_t>(epoch),
                             .layer = HashName("data.shuffle"),
                             .sample = 0});
  for (uint64_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[stream.Below(i - 1, i)]);
  }
  return order;
}

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
  Require(options.size >= 1, "sampler", "requires at least one example, got {}", options.size);
  Require(options.batch_size >= 1, "sampler", "requires a batch size of at least 1, got {}",
          options.batch_size);
  Require(!options.drop_last || options.size >= options.batch_size, "sampler",
          "leaves out a last batch of {} examples, and has no whole one of {}", options.size,
          options.batch_size);
}

int64_t Sampler::batches_per_epoch() const {
  const int64_t whole = options_.size / options_.batch_size;
  return options_.drop_last || options_.size % options_.batch_size == 0 ? whole : whole + 1;
}

void Sampler::Seek(SamplerPosition position) {
  Require(position.epoch >= 0 && position.number >= 0 && position.number < batches_per_epoch(),
          "sampler", "requires a mini-batch of 0 to {}, got {} of epoch {}",
          batches_per_epoch() - 1, position.number, position.epoch);
  position_ = position;
}

void Sampler::LoadOrder() {
  if (!options_.shuffle || order_epoch_ == position_.epoch) return;
  order_ = ShuffledOrder(options_.size, options_.seed, position_.epoch);
  order_epoch_ = position_.epoch;
}

MiniBatch Sampler::Next() {
  LoadOrder();
  const int64_t begin = position_.number * options_.batch_size;
  const int64_t end = std::min(begin + options_.batch_size, options_.size);
  MiniBatch batch{position_.epoch, position_.number, std::vector<int64_t>(end - begin)};
  std::iota(batch.indices.begin(), batch.indices.end(), begin);
  if (options_.shuffle)
    for (int64_t& index : batch.indices) index = order_[index];
  position_ = PositionOf(StepOf(position_) + 1);
  return batch;
}

int64_t Sampler::StepOf(SamplerPosition position) const {
  return position.epoch * batches_per_epoch() + position.number;
}

SamplerPosition Sampler::PositionOf(int64_t step) const {
  return {step / batches_per_epoch(), step % batches_per_epoch()};
}

}  // namespace torus::data
