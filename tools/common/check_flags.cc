#include "tools/common/check_flags.h"

#include <algorithm>

#include "runtime/error.h"
#include "tools/common/flag_table.h"

namespace torus::tools {

std::string FlagOf(const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  return names.empty() ? "" : "--" + names.front();
}

GivenFlags GivenBy(const CLI::App& app) {
  GivenFlags given;
  for (const CLI::Option* option : app.get_options()) {
    const std::string flag = FlagOf(*option);
    const std::vector<std::string>& values = option->results();
    if (option->count() > 0 && !flag.empty()) given[flag] = values.empty() ? "" : values.front();
  }
  return given;
}

void CheckFlags(const std::string& program, const GivenFlags& given,
                const std::vector<HereOrNot>& contexts) {
  for (const auto& [flag, value] : given) {
    const FlagRow* const row = RowOf(program, flag);
    if (row == nullptr || value == row->neutral) continue;
    for (const std::string_view name : Words(row->where)) {
      const auto found = std::ranges::find(contexts, name, &HereOrNot::context);
      TORUS_CHECK(found != contexts.end(), "{} does not say whether {} holds", program, name);
      Require(found->here, program, "{} {}, {}", flag, ContextNamed(name).needs, found->instead);
    }
  }
}

}  // namespace torus::tools
