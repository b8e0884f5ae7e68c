// CodecContext: what a codec is told of a tensor beside its values. CodecMemory: what it remembers
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

// What the codec of one end of a link keeps; part of the checkpoint. A codec that wraps another
// gives that one a part of its own.
struct CodecMemory {
  std::map<std::string, std::vector<float>> values;
  std::map<std::string, CodecMemory> parts;

  // values[name], which is about to be changed by a step: what it was is kept until Settle.
  std::vector<float>& Change(const std::string& name);
  // Behind a step: where it was not taken, all that has been changed becomes what it was.
  void Settle(bool taken);

  bool empty() const { return values.empty() && parts.empty(); }
  friend bool operator==(const CodecMemory& a, const CodecMemory& b) {
    return a.values == b.values && a.parts == b.parts;
  }

  // Of Change; its memory stays for the next step.
  struct Before {
    std::vector<float> values;
    bool existed = false, changed = false;
  };
  std::map<std::string, Before> before = {};
};

struct CodecContext {
  Shape shape;       // images (N, H, W, C); the first dimension counts samples
  int64_t step = 0;  // of training
  int64_t micro_batch = 0;
  bool training = true;  // otherwise nothing is to be remembered
  // By which the values were multiplied, a power of two that may change from step to step: what is
  // remembered to be added to later values is kept without it.
  double scale = 1;
  std::span<const int64_t> samples{};  // global numbers of the rows of shape[0]; may be empty
  // Which link, direction and tensor: two with equal numbers draw the same random numbers.
  uint64_t seed = 0, stream = 0;
  CodecMemory* memory = nullptr;  // null: none is kept
  SampleStore* store = nullptr;   // where what is remembered of samples lies; null: in `memory`

  // Of `count` values of no shape.
  static CodecContext Flat(int64_t count) { return {.shape = Shape{count}}; }
  // The same for a codec inside of this one, with memory of its own.
  CodecContext Inside(const std::string& part) const {
    CodecContext inner = *this;
    if (memory != nullptr) inner.memory = &memory->parts[part];
    return inner;
  }
};

}  // namespace torus::parallel
