// EventFile: writes a run's metrics for TensorBoard.
//
// A file of TFRecords (8 bytes of length, their checksum, the record, its checksum; little-endian,
// masked CRC-32C), each of them one protobuf message tensorflow.Event. The file of a resumed run
// begins with a message that makes TensorBoard discard what earlier files in the folder have for
// the steps that are repeated.
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

// Seconds of the system clock since the beginning of 1970, for the timestamps of events.
double SecondsNow();

class EventFile {
 public:
  // Creates events.out.tfevents.SECONDS.STEP in `folder`, for the steps after `step`. `seconds` is
  // the present time since 1970. Throws BrokenEnvironment if the file cannot be written.
  EventFile(const std::string& folder, double seconds, int64_t step);

  // Writes to the file at once.
  void Add(double seconds, int64_t step, std::span<const Scalar> scalars);

 private:
  void Write(const std::string& event);
  io::OutputFile file_;
};

}  // namespace torus::recipes
