// The schedules side by side on one pipeline, as the simulator predicts them.
#pragma once

#include <string>
#include <vector>

#include "parallel/schedule/schedule.h"
#include "parallel/schedule/simulator.h"

namespace torus::parallel {

// A pipeline of ranks, each with one part of the model. Of a schedule with several chunks a rank,
// the parts are taken to divide evenly into chunks, in time and memory; what crosses a cut stays as
// it is.
struct Pipeline {
  int micro_batches = 1;
  int chunks = 2;   // of the schedules that have several
  CostModel costs;  // a list has an entry for each rank; seconds and bytes
  int ranks = 1;
};

struct ScheduleFigures {
  std::string name;
  int chunks = 1;
  double seconds = 0;     // of a mini-batch
  double bubble = 0;      // of the ranks' time until then
  int in_flight = 0;      // micro-batches, of all chunks, on the rank that has most
  double peak_bytes = 0;  // of the rank that has most
  double sent_bytes = 0;  // over all links
};

// The costs of `pipeline` with `chunks` stages a rank.
CostModel ChunkCosts(const Pipeline& pipeline, int chunks);

// Simulates one schedule. The errors of MakeSchedule and Simulate.
ScheduleFigures FiguresOf(const std::string& schedule, const Pipeline& pipeline, int chunks);

// What `pipeline` gives a rank of that schedule: pipeline.chunks, or 1.
int ChunksOf(const std::string& schedule, const Pipeline& pipeline);

// Every schedule of the factory that is made for any size; those for several chunks with
// pipeline.chunks of them.
std::vector<ScheduleFigures> CompareSchedules(const Pipeline& pipeline);

// A line of titles and one a schedule.
std::string ToTable(const std::vector<ScheduleFigures>& all);

}  // namespace torus::parallel
