// What the sender of a GPU's memory tells the receiver over the transport under NCCL. NCCL knows
// neither tags nor sizes: the n-th message of a link meets the n-th, so announcements come in the
// order in which the messages were put into the sender's stream. The NCCL transport's own part.
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
  char what[90] = {};  // as much as fits of the text for errors

  Announcement() = default;
  Announcement(Tag tag, size_t size, const std::string& text)
      : bytes(size), number(tag.number), kind(tag.kind), stamp(tag.stamp) {
    std::copy_n(text.data(), std::min(text.size(), sizeof what - 1), what);
  }
  Tag tag() const { return {kind, number, stamp}; }
};

// Above all numbers of the trainer's and the pipeline's control messages.
inline constexpr Tag kAnnouncementTag{TagClass::kControl, (1 << 24) - 3};
inline constexpr Tag kTakenTag{TagClass::kControl, (1 << 24) - 4};  // the receiver's answer
inline constexpr Tag kEndedTag{TagClass::kControl, (1 << 24) - 7};  // all that was taken has come
inline constexpr Tag kNcclIdTag{TagClass::kControl, (1 << 24) - 5};
inline constexpr Tag kJoinedTag{TagClass::kControl, (1 << 24) - 6};

}  // namespace torus::parallel
