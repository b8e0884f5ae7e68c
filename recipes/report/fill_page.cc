#include "recipes/report/fill_page.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "recipes/report/page_assets.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

// JSON for a script element. Escapes "<", since otherwise a name could end the element.
std::string ForScript(const nlohmann::json& json) {
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6)
    text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

std::string FillPage(std::string_view html, const nlohmann::json& json, std::string_view script) {
  const std::string data = ForScript(json), scripts = std::string(kChartsScript).append(script);
  const std::pair<std::string_view, std::string_view> parts[] = {{"{{STYLE}}", kPageStyle},
                                                                 {"{{DATA}}", data},
                                                                 {"{{CHART}}", kChartJs},
                                                                 {"{{SCRIPT}}", scripts}};
  // Fills in one pass from left to right, so that no inserted part is searched for marks.
  std::string page;
  for (const auto& [mark, text] : parts) {
    const size_t at = html.find(mark);
    TORUS_CHECK(at != std::string_view::npos, "a page lacks {}", mark);
    page.append(html.substr(0, at)).append(text);
    html.remove_prefix(at + mark.size());
  }
  return page.append(html);
}

}  // namespace torus::recipes
