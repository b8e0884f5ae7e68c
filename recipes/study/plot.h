// Plot: series over an axis, which a page draws and gives as a table besides.
#pragma once

#include <string>
#include <vector>

#include "recipes/study/table.h"

namespace torus::study {

struct Axis {
  std::string name;
  std::string unit = {};
  bool log = false;  // logarithmic: values must be above 0 to be seen
};

struct Point {
  double x = 0;  // of bars: the number of a category
  double y = 0;
  double error = 0;  // half of the error bar's height; 0: none
};

struct Series {
  std::string name;
  std::vector<Point> points;
};

enum class PlotKind { kLines, kPoints, kBars };

struct Plot {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  PlotKind kind = PlotKind::kLines;
  std::vector<std::string> categories = {};  // of bars, along x
  std::string note = {};
};

// The same figures: a row for each x, a column for each series. BadInput for a bar's x that is the
// number of no category.
Table TableOf(const Plot& plot);

}  // namespace torus::study
