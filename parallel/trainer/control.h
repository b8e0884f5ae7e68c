// Control: small messages by which the ranks of a run exchange values and decisions. They are of
// TagClass::kControl, so they do not count as traffic of the run. Internal to the trainer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// The tag of one of the trainer's messages; larger than all tags of the pipeline's control
// messages.
enum class ControlMessage : uint8_t { kRecord = 1, kBytes, kAnnouncement };
Tag ControlTag(ControlMessage message);

class Control {
 public:
  // `world` must outlive it.
  explicit Control(Transport& world) : world_(world) {}
  int rank() const { return world_.rank(); }
  int size() const { return world_.size(); }

  // Gathers the records of all ranks, which have one size, on every rank: concatenated in rank
  // order. Uses Bruck's all-gather (Bruck et al. 1997): in round k each rank sends the up to 2^k
  // records that it has to rank - 2^k; ceil(log2 n) rounds. Adds to `waited`, if given, the seconds
  // that it waited for other ranks.
  std::vector<std::byte> AllGather(std::span<const std::byte> record, const std::string& what,
                                   double* waited = nullptr);
  // The same with a plain value.
  template <class T>
  std::vector<T> Share(const T& value, const std::string& what, double* waited = nullptr);

  // The same with bytes whose number may differ between ranks.
  std::vector<std::vector<std::byte>> ShareBytes(std::span<const std::byte> bytes,
                                                 const std::string& what);

  // Returns when all ranks have called it: on rank 0 the bytes of every rank, in rank order; on the
  // others nothing.
  std::vector<std::vector<std::byte>> Gather(std::span<const std::byte> bytes,
                                             const std::string& what);

  // Returns rank 0's `value` on every rank; all ranks call it. Rank 0 does not wait for the others,
  // so it may be several calls ahead.
  uint8_t Announce(uint8_t value, const std::string& what);

 private:
  struct Announcement {
    explicit Announcement(uint8_t value) : value(value) {}
    uint8_t value;
    std::vector<Pending> sends;
  };
  Transport& world_;
  std::deque<Announcement> announced_;  // which some ranks may not have received yet
};

template <class T>
std::vector<T> Control::Share(const T& value, const std::string& what, double* waited) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::byte> bytes = AllGather(std::as_bytes(std::span(&value, 1)), what, waited);
  std::vector<T> all(world_.size());
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(all)).begin());
  return all;
}

}  // namespace torus::parallel
