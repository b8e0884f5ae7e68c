#include "recipes/report/report.h"

#include "recipes/report/fill_page.h"
#include "recipes/report/page_assets.h"
#include "recipes/report/report_data.h"

namespace torus::recipes {

std::string RenderReport(const ReportInput& input) {
  return FillPage(kPageHtml, ReportData(input), kPageScript);
}

}  // namespace torus::recipes
