// A rank as the drivers of the labs see it (a driver is compiled together with the file that is
// graded): its wire, a virtual clock, and what it reports to the grader.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lab_protocol.h"
#include "lab_wire.h"

namespace lab {

struct Task {
  std::vector<int64_t> numbers;
  std::vector<float> values;
};

class Rank : public Wire {
 public:
  Task ReadTask();
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void Send(int to, std::span<const float> data) override;
  void Recv(int from, std::span<float> data) override;

  // Advances this rank's virtual clock by `seconds` of work, which `what` names.
  void Compute(const std::string& what, double seconds);
  // Starts a sum over all ranks, which runs while the rank computes. The k-th sum of a rank is
  // added to the k-th of every other. Returns its number, from 0.
  int StartSum(std::span<const float> data);
  // Waits for that sum and writes it to `data`.
  void WaitSum(int number, std::span<float> data);

  void Fact(const std::string& name, double value);
  void Fail(const std::string& reason);
  void Finish(std::span<const float> result);

 private:
  void Put(Head head, const void* payload);
  void Take(std::span<float> data);

  int rank_ = 0, size_ = 1, sums_ = 0;
};

// Implemented by each lab's driver: calls the graded code as the task says. What it returns goes
// back to the grader.
std::vector<float> Perform(Rank& rank, const Task& task);

// Bytes that this process has allocated with malloc and new: now, and at most since ResetPeak. And
// in how many blocks they are now.
int64_t LiveBytes();
int64_t LiveBlocks();
int64_t PeakBytes();
void ResetPeak();

// Calls body(i) for i = 0 .. calls - 1, and reports two facts: "peak", the most bytes that one call
// needed; and "kept", by how many bytes the allocated memory grew from the end of the first call to
// the end of the last. So what the first call caches does not count as kept, nor that a block which
// is allocated anew for the same request may be up to 16 bytes larger.
template <class Body>
void Metered(Rank& rank, int64_t calls, const Body& body) {
  int64_t peak = 0, first = 0, last = 0, blocks = 0;
  for (int64_t i = 0; i < calls; ++i) {
    const int64_t before = LiveBytes();
    ResetPeak();
    body(i);
    peak = PeakBytes() - before > peak ? PeakBytes() - before : peak;
    last = LiveBytes();
    if (i == 0) first = last, blocks = LiveBlocks();
  }
  const bool same = LiveBlocks() == blocks && last - first <= 16 * blocks;
  rank.Fact("peak", static_cast<double>(peak));
  rank.Fact("kept", same ? 0.0 : static_cast<double>(last - first));
}

}  // namespace lab
