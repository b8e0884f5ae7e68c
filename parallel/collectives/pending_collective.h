// PendingCollective: a collective in flight.
#pragma once

namespace torus::parallel {

// Advanced between other work. Its buffers stay allocated and unused by others until it is done.
class PendingCollective {
 public:
  virtual ~PendingCollective() = default;
  // Sums and sends what has arrived, without waiting. Returns whether all is done.
  virtual bool Advance() = 0;
  // Waits for the rest.
  virtual void Finish() = 0;
};

}  // namespace torus::parallel
