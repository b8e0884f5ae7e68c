#include "tools/ledger/print_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tools/ledger/cache.h"
#include "tools/ledger/floor.h"
#include "tools/ledger/machine.h"
#include "tools/ledger/step_time.h"

namespace torus::ledger {
namespace {

struct Row {
  std::string name;
  int launches = 0;
  double must = 0, moved = 0, flops = 0, seconds = 0;
  Unit unit = Unit::kNone;

  void Add(const Work& work, double time) {
    launches += work.launches;
    must += work.must();
    moved += work.moved;
    flops += work.flops;
    seconds += time;
    if (work.unit != Unit::kNone) unit = work.unit;
  }
};

const char* NameOf(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "";
    case Unit::kF64:
      return "f64";
    case Unit::kF32:
      return "f32";
    case Unit::kTf32:
      return "tf32";
    case Unit::kLow:
      return "16 bits";
    default:
      return "attention";
  }
}

std::vector<Row> Sorted(const std::map<std::string, Row>& rows) {
  std::vector<Row> sorted;
  for (const auto& [name, row] : rows) sorted.push_back(row);
  std::ranges::sort(sorted, std::greater(), &Row::seconds);
  return sorted;
}

void Print(const Row& row, double whole, std::ostream& out) {
  out << fmt::format("{:6.2f}% {:9.3f} ms {:5} x {:9.1f} MB {:9.1f} MB {:9.2f} GFLOP {:9}  {}\n",
                     100 * row.seconds / whole, 1e3 * row.seconds, row.launches, 1e-6 * row.must,
                     1e-6 * row.moved, 1e-9 * row.flops, NameOf(row.unit), row.name);
}

}  // namespace

void PrintLedger(const std::string& step, const Works& works, int most, std::ostream& out) {
  const Machine machine;
  Cache cache(kCacheBytes);
  std::map<std::string, Row> kernels, ops;
  Row all{.name = "step"};
  for (const auto& work : works) {
    const double seconds = machine.Seconds(*work, cache.Use(*work));
    for (auto [rows, name] : {std::pair(&kernels, &work->kernel), std::pair(&ops, &work->op)}) {
      Row& row = (*rows)[*name];
      row.name = *name;
      row.Add(*work, seconds);
    }
    all.Add(*work, seconds);
  }
  out << fmt::format("{}: {:.3f} ms in {} kernels, {:.3f} ms as a graph\n", step, 1e3 * all.seconds,
                     all.launches, 1e3 * TimeOf(works).graph);
  out << "  share      time launches  must move      moves        FLOPs  unit      kernel\n";
  const std::vector<Row> sorted = Sorted(kernels);
  for (size_t i = 0; i < std::min(sorted.size(), static_cast<size_t>(most)); ++i)
    Print(sorted[i], all.seconds, out);
  out << "by op:\n";
  for (const Row& row : Sorted(ops)) Print(row, all.seconds, out);
  Print(all, all.seconds, out);
  const Floor floor = FloorOf(works);
  out << fmt::format("floor: {:.3f} ms: FLOPs {:.3f} ms; {:.1f} MB of memory {:.3f} ms\n",
                     1e3 * floor.seconds(), 1e3 * floor.flops_seconds, 1e-6 * floor.bytes,
                     1e3 * floor.memory_seconds);
}

nlohmann::json JsonOf(const Works& works) {
  nlohmann::json out = nlohmann::json::array();
  Cache cache(kCacheBytes);
  for (const auto& work : works)
    out.push_back({{"op", work->op},
                   {"kernel", work->kernel},
                   {"launches", work->launches},
                   {"library", work->library},
                   {"beside", work->beside},
                   {"must", work->must()},
                   {"sectors", work->sectors()},
                   {"cached", cache.Use(*work)},
                   {"over_bus", work->over_bus},
                   {"moved", work->moved},
                   {"requested", work->requested},
                   {"instructions", work->instructions},
                   {"waits", work->waits},
                   {"blocks", work->blocks},
                   {"threads", work->threads},
                   {"flops", work->flops},
                   {"unit", static_cast<int>(work->unit)},
                   {"tiles", work->tiles},
                   {"tile_flops", work->tile_flops},
                   {"unaligned", work->unaligned}});
  return out;
}

}  // namespace torus::ledger
