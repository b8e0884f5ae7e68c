// Reads and writes schedules as CSV tables, for schedules made by hand or by another program.
//
//   0F0,0F1,,0B0,,0B1
//   ,1F0,1B0,1F1,1B1,
//
// Each line is a rank and each cell an action: stage, letter, micro-batch. F is a forward, B a
// whole backward, I and W its halves for inputs and weights. An empty cell shows idle time and is
// ignored. The format is that of PyTorch's torch.distributed.pipelining ("compute only" schedules).
#pragma once

#include <string>
#include <string_view>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and backwards only; Lower adds the rest. `name` is used in messages. The largest
// numbers in the cells give the numbers of stages and micro-batches. Throws BadInput, naming line
// and cell, for anything else.
Schedule ScheduleFromCsv(std::string_view text, const std::string& name);
// The same from a file. Throws BadInput if it cannot be opened, is larger than 64 MiB, or does not
// fit `size`.
Schedule ReadScheduleCsv(const std::string& path, const PipelineSize& size);

// The forwards and backwards of each rank without idle cells.
std::string ToCsv(const Schedule& schedule);

}  // namespace torus::parallel
