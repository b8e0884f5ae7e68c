#include "data/loading/stacked_batch.h"

#include <cstring>
#include <utility>

#include "runtime/progress.h"

namespace torus::data {
namespace {

Shape Stacked(int64_t rows, const Shape& shape) {
  Shape stacked{rows};
  for (const int64_t size : shape) stacked.push_back(size);
  return stacked;
}

// One tensor of the batch, filled row by row.
class Stack {
 public:
  Stack(const Tensor& example, int64_t rows, BatchMemory memory)
      : shape_(example.shape()), out_(EmptyIn(memory, Stacked(rows, shape_), example.dtype())) {}

  void Add(const Tensor& row, const std::string& name, int64_t index) {
    Require(row.shape() == shape_ && row.dtype() == out_.dtype() && row.is_contiguous(), name,
            "requires examples alike, contiguous {} {}, got {} for example {}", Name(out_.dtype()),
            shape_, row, index);
    auto* const to = static_cast<char*>(out_.mutable_raw()) + next_ * row.bytes();
    std::memcpy(to, row.raw(), row.bytes());
    ++next_;
  }
  Tensor Take() { return std::move(out_); }

 private:
  Shape shape_;
  Tensor out_;
  size_t next_ = 0;
};

class Stacker {
 public:
  Stacker(const Dataset& dataset, BatchMemory memory)
      : dataset_(dataset), form_(dataset.Get(0)), memory_(memory) {}

  Batch operator()(const MicroBatch& part) const {
    const auto rows = static_cast<int64_t>(part.indices.size());
    std::vector<Stack> inputs;
    for (const Tensor& input : form_.inputs) inputs.emplace_back(input, rows, memory_);
    Stack target(form_.target, rows, memory_);
    const std::string& name = dataset_.info().name;
    for (const int64_t index : part.indices) {
      const Sample sample = dataset_.Get(index);
      Require(sample.inputs.size() == inputs.size(), name,
              "requires examples of {} inputs, got {} for example {}", inputs.size(),
              sample.inputs.size(), index);
      for (size_t k = 0; k < inputs.size(); ++k) inputs[k].Add(sample.inputs[k], name, index);
      target.Add(sample.target, name, index);
      TickProgress();
    }
    Batch batch{.inputs = {}, .target = target.Take(), .samples = part.samples};
    for (Stack& input : inputs) batch.inputs.push_back(input.Take());
    return batch;
  }

 private:
  const Dataset& dataset_;
  Sample form_;  // the first example; all have its shapes and dtypes
  BatchMemory memory_;
};

}  // namespace

MakeBatch StackedBatches(const Dataset& dataset, BatchMemory memory) {
  return Stacker(dataset, memory);
}

}  // namespace torus::data
