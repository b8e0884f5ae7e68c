// The files of the report pages, compiled into the program.
#pragma once

#include <string_view>

namespace torus::recipes {

extern const std::string_view kPageHtml, kPageScript;        // of one run
extern const std::string_view kCompareHtml, kCompareScript;  // of several
extern const std::string_view kPageStyle, kChartsScript;     // of both
extern const std::string_view kChartJs;  // Chart.js, MIT licence, from Debian's libjs-chart.js

}  // namespace torus::recipes
