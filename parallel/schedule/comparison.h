// Compares the simulated time, bubble, memory and traffic of the schedules on one pipeline.
#pragma once

#include <string>
#include <vector>

#include "parallel/schedule/schedule.h"
#include "parallel/schedule/simulator.h"

namespace torus::parallel {

// A pipeline of ranks, each with one part of the model. For a schedule with several chunks per
// rank, each part is assumed to divide evenly into chunks, in time and memory; the bytes that cross
// a cut stay the same.
struct Pipeline {
  int micro_batches = 1;
  int chunks = 2;   // stages per rank, for the schedules that run several
  CostModel costs;  // each list has one entry per rank; seconds and bytes
  int ranks = 1;
};

struct ScheduleFigures {
  std::string name;
  int chunks = 1;
  double seconds = 0;     // of a mini-batch
  double bubble = 0;      // share of the ranks' time until then
  int in_flight = 0;      // the most micro-batches, of all chunks, on any rank
  double peak_bytes = 0;  // the most on any rank
  double sent_bytes = 0;  // over all links
};

// The costs of each stage of `schedule`, which the ranks of `pipeline` run.
CostModel StageCosts(const Pipeline& pipeline, const Schedule& schedule);

// Simulates one schedule. Throws what MakeSchedule and Simulate throw.
ScheduleFigures FiguresOf(const std::string& schedule, const Pipeline& pipeline, int chunks);

// The stages per rank for that schedule: pipeline.chunks if it can run any number, else its own.
int ChunksOf(const std::string& schedule, const Pipeline& pipeline);

// Simulates every schedule of ScheduleNames(), with ChunksOf(name, pipeline) chunks.
std::vector<ScheduleFigures> CompareSchedules(const Pipeline& pipeline);

// A line of titles, then one line per schedule.
std::string ToTable(const std::vector<ScheduleFigures>& all);

}  // namespace torus::parallel
