// Valid schedules in orders that nobody would choose.
#pragma once

#include "parallel/schedule/schedule.h"
#include "runtime/rng.h"

namespace torus::parallel::testing {

struct RandomSchedule {
  Schedule schedule;  // lowered
  bool several_stages_on_a_rank = false;
};

// A random topological order of the forwards and backwards, some of them in halves, of at most
// `most_stages` stages, given to ranks at random, and at most `most_micro_batches`. Equal `number`s
// give equal schedules.
RandomSchedule MakeRandomSchedule(uint64_t number, int most_stages, int most_micro_batches);

}  // namespace torus::parallel::testing
