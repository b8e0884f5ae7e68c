// Announcement: what the sender of GPU memory tells the receiver over the transport under NCCL.
// NCCL has neither tags nor size checks: it matches the n-th send of a link with the n-th receive.
// So announcements are sent in the order in which the sender asks for their turns (turns.h).
// Internal to the NCCL transport.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "parallel/transport/tag.h"

namespace torus::parallel {

struct Announcement {
  uint64_t bytes = 0;
  int32_t number = 0;
  TagClass kind = TagClass::kUser;
  bool stamp = false;
  char what[90] = {};  // the text for errors, cut to fit

  Announcement() = default;
  Announcement(Tag tag, size_t size, const std::string& text)
      : bytes(size), number(tag.number), kind(tag.kind), stamp(tag.stamp) {
    std::copy_n(text.data(), std::min(text.size(), sizeof what - 1), what);
  }
  Tag tag() const { return {kind, number, stamp}; }
};

// Above all numbers that the trainer and the pipeline use for control messages.
inline constexpr Tag kAnnouncementTag{TagClass::kControl, (1 << 24) - 3};
inline constexpr Tag kTakenTag{TagClass::kControl, (1 << 24) - 4};  // the receiver's answer
inline constexpr Tag kEndedTag{TagClass::kControl, (1 << 24) - 7};  // all it took has arrived
inline constexpr Tag kNcclIdTag{TagClass::kControl, (1 << 24) - 5};
inline constexpr Tag kJoinedTag{TagClass::kControl, (1 << 24) - 6};
inline constexpr Tag kTurnTag{TagClass::kControl, (1 << 24) - 8};
inline constexpr Tag kFinishedTag{TagClass::kControl, (1 << 24) - 9};

}  // namespace torus::parallel
