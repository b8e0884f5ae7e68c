#include "recipes/report/report.h"

#include <string_view>
#include <utility>

#include "recipes/report/page_assets.h"
#include "recipes/report/report_data.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

// JSON inside of a script element: "<" would let a name end the element.
std::string ForScript(const nlohmann::json& json) {
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6)
    text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

std::string RenderReport(const ReportInput& input) {
  const std::string data = ForScript(ReportData(input));
  const std::pair<std::string_view, std::string_view> parts[] = {{"{{STYLE}}", kPageStyle},
                                                                 {"{{DATA}}", data},
                                                                 {"{{CHART}}", kChartJs},
                                                                 {"{{SCRIPT}}", kPageScript}};
  // One pass, left to right, so that no part is searched for the marks of another.
  std::string page;
  std::string_view rest = kPageHtml;
  for (const auto& [mark, text] : parts) {
    const size_t at = rest.find(mark);
    TORUS_CHECK(at != std::string_view::npos, "page.html lacks {}", mark);
    page.append(rest.substr(0, at)).append(text);
    rest.remove_prefix(at + mark.size());
  }
  return page.append(rest);
}

}  // namespace torus::recipes
