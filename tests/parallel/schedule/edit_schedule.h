// Edits of one schedule by what its actions print as.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "parallel/schedule/printer.h"

namespace torus::parallel::testing {

// The position of the action that prints as `text` on `rank`.
inline std::vector<Action>::iterator Find(Schedule& schedule, int rank, const std::string& text) {
  std::vector<Action>& list = schedule.ranks[rank];
  const auto it =
      std::find_if(list.begin(), list.end(), [&](const Action& a) { return ToString(a) == text; });
  EXPECT_NE(it, list.end()) << text;
  return it;
}

inline void Swap(Schedule& schedule, int rank, const std::string& a, const std::string& b) {
  std::iter_swap(Find(schedule, rank, a), Find(schedule, rank, b));
}

inline void Erase(Schedule& schedule, int rank, const std::string& text) {
  schedule.ranks[rank].erase(Find(schedule, rank, text));
}

inline void Insert(Schedule& schedule, int rank, const Action& action, const std::string& before) {
  schedule.ranks[rank].insert(Find(schedule, rank, before), action);
}

// Takes `text` out and puts it right before `before`.
inline void Move(Schedule& schedule, int rank, const std::string& text, const std::string& before) {
  const Action action = *Find(schedule, rank, text);
  Erase(schedule, rank, text);
  Insert(schedule, rank, action, before);
}

}  // namespace torus::parallel::testing
