// Schedules as tables: a file that a person or another program wrote, and back.
//
//   0F0,0F1,,0B0,,0B1
//   ,1F0,1B0,1F1,1B1,
//
// A line a rank, a cell an action: stage, letter, micro-batch. F is a forward, B a whole backward,
// I and W its halves for inputs and weights; an empty cell is idle time and means nothing. The form
// is that of PyTorch's torch.distributed.pipelining ("compute only" schedules).
#pragma once

#include <string>
#include <string_view>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Forwards and backwards alone; Lower adds the rest. `name` stands in messages. As many stages and
// micro-batches as the largest numbers say. BadInput naming line and cell for anything else.
Schedule ScheduleFromCsv(std::string_view text, const std::string& name);
// The same from a file; BadInput when it cannot be opened, has over 64 MiB, or is not for `size`.
Schedule ReadScheduleCsv(const std::string& path, const PipelineSize& size);

// The forwards and backwards of each rank without idle cells.
std::string ToCsv(const Schedule& schedule);

}  // namespace torus::parallel
