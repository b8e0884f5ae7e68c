// Share: every rank tells every rank a small record.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Returns the records of all ranks of `ranks`, which have one size, concatenated in rank order. All
// of them call it together. Bruck's all-gather (Bruck et al. 1997, "Efficient algorithms for
// all-to-all communications in multiport message-passing systems"): in round k each rank sends the
// up to 2^k records that it has to rank - 2^k; ceil(log2 n) rounds. Adds to `waited`, if given, the
// seconds that it waited for other ranks. `what` appears in errors.
std::vector<std::byte> ShareRecord(Transport& ranks, Tag tag, std::span<const std::byte> record,
                                   const std::string& what, double* waited = nullptr);

// The same with a plain value.
template <class T>
std::vector<T> Share(Transport& ranks, Tag tag, const T& value, const std::string& what,
                     double* waited = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = ShareRecord(ranks, tag, std::as_bytes(std::span(&value, 1)), what, waited);
  std::vector<T> all(ranks.size());
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(all)).begin());
  return all;
}

}  // namespace torus::parallel
