// CodecContext: what a codec knows of a tensor besides its values. CodecMemory: what it remembers
// from one tensor to the next.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/shape.h"

namespace torus::parallel {

class SampleStore;

// The memory of a codec at one end of a link; part of the checkpoint. A codec that wraps another
// gives that one an entry in `parts`.
struct CodecMemory {
  std::map<std::string, std::vector<float>> values;  // by name, of this codec alone
  std::map<std::string, CodecMemory> parts;

  // Returns values[name] to be changed by a step. The old value is kept until Settle.
  std::vector<float>& Change(const std::string& name);
  // Called after a step. If the step was not taken, restores all values that were changed.
  void Settle(bool taken);

  bool empty() const { return values.empty() && parts.empty(); }  // whether nothing is remembered
  // Whether both remember the same.
  friend bool operator==(const CodecMemory& a, const CodecMemory& b) {
    return a.values == b.values && a.parts == b.parts;
  }

  // The old value that Change keeps. Its memory is reused in the next step.
  struct Before {
    std::vector<float> values;              // before the change
    bool existed = false, changed = false;  // before, and in this step
  };
  std::map<std::string, Before> before = {};  // by name
};

// What a codec is told of a tensor besides its values.
struct CodecContext {
  Shape shape;              // images (N, H, W, C); the first dimension counts samples
  int64_t step = 0;         // training step
  int64_t micro_batch = 0;  // of the step
  bool training = true;     // if false, nothing is remembered
  // The values were multiplied by this scale, a power of two that may change from step to step.
  // What is remembered to be added to later values is stored without it.
  double scale = 1;
  std::span<const int64_t> samples{};  // global sample numbers of the rows; may be empty
  // Identify the link, direction and tensor: equal numbers draw the same random numbers.
  uint64_t seed = 0, stream = 0;
  CodecMemory* memory = nullptr;  // null: nothing is remembered
  SampleStore* store = nullptr;   // holds what is remembered of samples; null: `memory` does

  // The context of `count` values without a shape.
  static CodecContext Flat(int64_t count) { return {.shape = Shape{count}}; }
  // The same context for a codec inside this one, which gets its own part of the memory.
  CodecContext Inside(const std::string& part) const {
    CodecContext inner = *this;
    if (memory != nullptr) inner.memory = &memory->parts[part];
    return inner;
  }
};

}  // namespace torus::parallel
