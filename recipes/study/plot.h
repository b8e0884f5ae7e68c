// Plot: series over an axis. A page shows it as a picture and as a table.
#pragma once

#include <string>
#include <vector>

#include "recipes/study/table.h"

namespace torus::study {

struct Axis {
  std::string name;
  std::string unit = {};
  bool log = false;  // logarithmic: only values above 0 are shown
};

struct Point {
  double x = 0;  // for bars: the index of a category
  double y = 0;
  double error = 0;  // half of the error bar's height; 0: none
};

struct Series {
  std::string name;
  std::vector<Point> points = {};
  bool line = false;  // in a plot of points: a line through them, and no points
};

enum class PlotKind { kLines, kPoints, kBars };

struct Plot {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  PlotKind kind = PlotKind::kLines;
  std::vector<std::string> categories = {};  // for bars, along x
  std::string note = {};
};

// The same numbers as a table: a row for each x, a column for each series. Throws BadInput if the x
// of a bar is not the index of a category.
Table TableOf(const Plot& plot);

}  // namespace torus::study
