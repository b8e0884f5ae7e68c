// The report page's files, built into the program.
#pragma once

#include <string_view>

namespace torus::recipes {

extern const std::string_view kPageHtml, kPageStyle, kPageScript;
extern const std::string_view kChartJs;  // Chart.js, MIT licence, from Debian's libjs-chart.js

}  // namespace torus::recipes
