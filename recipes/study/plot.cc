#include "recipes/study/plot.h"

#include <fmt/format.h>

#include <map>

#include "runtime/error.h"

namespace torus::study {
namespace {

Cell LabelOf(const Plot& plot, double x) {
  if (plot.kind != PlotKind::kBars) return fmt::format("{:.6g}", x);
  const bool known = x >= 0 && x < static_cast<double>(plot.categories.size());
  Require(known, "plot", "{} has {} categories, got a bar at {}", plot.title,
          plot.categories.size(), x);
  return plot.categories[static_cast<size_t>(x)];
}

// As text with six digits, since a plot's values may differ by orders of magnitude.
Cell ValueOf(const Point& point) {
  return point.error > 0 ? fmt::format("{:.6g} ± {:.2g}", point.y, point.error)
                         : fmt::format("{:.6g}", point.y);
}

}  // namespace

Table TableOf(const Plot& plot) {
  std::vector<Column> columns{{plot.x.name, plot.x.unit}};
  std::map<double, std::vector<Cell>> rows;
  for (size_t s = 0; s < plot.series.size(); ++s) {
    columns.push_back({plot.series[s].name, plot.y.unit});
    for (const Point& point : plot.series[s].points) {
      std::vector<Cell>& row = rows[point.x];
      row.resize(plot.series.size() + 1);
      row[0] = LabelOf(plot, point.x);
      row[s + 1] = ValueOf(point);
    }
  }
  Table table(fmt::format("{}: {}", plot.title, plot.y.name), std::move(columns));
  for (auto& [x, row] : rows) table.Add(std::move(row));
  return table;
}

}  // namespace torus::study
