// EventFile: a run's figures for TensorBoard.
//
// A file of TFRecords (8 bytes of length, their checksum, the record, its checksum; little-endian,
// CRC-32C masked), each one protobuf message tensorflow.Event. In `tensorboard --logdir RUN` the
// newest process of a run counts: it begins with a message that takes back what earlier files of
// the folder say of the steps that are done again.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/io/file.h"

namespace torus::recipes {

struct Scalar {
  std::string tag;  // "train/loss"
  double value = 0;
};

// Of the system clock, as events are stamped: since the beginning of 1970.
double SecondsNow();

class EventFile {
 public:
  // Creates events.out.tfevents.SECONDS.STEP in `folder`, for the steps behind `step`.
  // BrokenEnvironment when it cannot be written. `seconds`: now, since 1970.
  EventFile(const std::string& folder, double seconds, int64_t step);

  // Written at once.
  void Add(double seconds, int64_t step, std::span<const Scalar> scalars);

 private:
  void Write(const std::string& event);
  io::OutputFile file_;
};

}  // namespace torus::recipes
