// Prints schedules as text.
#pragma once

#include <string>

#include "parallel/schedule/schedule.h"
#include "runtime/error.h"

namespace torus::parallel {

// Short form of an action: stage, letter, micro-batch. "2F0" forward, "2B0" backward, "2I0" and
// "2W0" its halves; "2sendA0>3" and "3recvA0<2" an activation, "2sendG0>1" and "1recvG0<2" a
// gradient, with the peer's rank; "2reduce", "2step".
std::string ToString(const Action& action);

// The same without stage and peer: "F0", "sendA0", "reduce".
std::string ShortName(const Action& action);

// In words: "forward", "receive of an activation", ...
const char* Words(ActionKind kind);

// One line per rank, with its actions in order: "rank 0: 0F0 0sendA0>1 ...".
std::string ToText(const Schedule& schedule);

// An action's place in a schedule.
struct ActionPlace {
  int rank = 0;
  size_t index = 0;  // in the rank's list; the list's length means after its last action
};

// A table with one row per rank and one column per action, a few before and after the place, and an
// arrow:
//
//   rank 0 | 0F0       0sendA0>1 0recvG0<1 0B0       0reduce 0step
//   rank 1 | 1recvA0<0 1B0       1F0       1sendG0>0 1reduce 1step
//                      ^
// Begins with a new line.
std::string TableAround(const Schedule& schedule, const ActionPlace& place);

// The timeline of the compute actions if each takes one slot, and a whole backward in a schedule
// that has halves, too, takes two, of which the second is "--": one row per rank, one column per
// slot; ".." is a bubble.
//
//   rank 0 | F0 F1 .. .. B0 B1
//   rank 1 | .. F0 F1 B0 B1 ..
//
// Cells also name the stage ("2F0") if a rank has several.
std::string Staircase(const Schedule& schedule);

}  // namespace torus::parallel

// Formats an action as ToString does.
template <>
struct fmt::formatter<torus::parallel::Action> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const torus::parallel::Action& action, Context& context) const {
    return fmt::formatter<std::string>::format(torus::parallel::ToString(action), context);
  }
};
