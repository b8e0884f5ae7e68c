#include "models/checkpoint/config_reader.h"

#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus {

using nlohmann::json;

// Larger than any size of a model, and products of two such numbers do not overflow.
constexpr int64_t kLargest = int64_t{1} << 28;
constexpr size_t kLongestText = 100;

ConfigReader::ConfigReader(const json& config, std::string where)
    : config_(config), where_(std::move(where)) {
  Require(config.is_object(), where_, "a configuration must be an object, got {}",
          config.type_name());
}

const json* ConfigReader::Find(const std::string& key) const {
  const auto found = config_.find(key);
  return found == config_.end() || found->is_null() ? nullptr : &*found;
}

template <class T>
void ConfigReader::ReadAs(const std::string& key, bool fits, const std::string& wanted,
                          T& value) const {
  const json* found = Find(key);
  if (found == nullptr) return;
  Require(fits, where_, "{} must be {}, got {}", key, wanted, io::Brief(*found));
  value = found->get<T>();
}

void ConfigReader::Read(const std::string& key, int64_t& value, int64_t least) const {
  const json raw = Raw(key);
  const bool fits = raw.is_number_integer() && raw >= least && raw <= kLargest;
  ReadAs(key, fits, fmt::format("a whole number from {} to 2^28", least), value);
}

void ConfigReader::Read(const std::string& key, double& value) const {
  ReadAs(key, Raw(key).is_number(), "a number", value);
}

void ConfigReader::Read(const std::string& key, bool& value) const {
  ReadAs(key, Raw(key).is_boolean(), "true or false", value);
}

void ConfigReader::Read(const std::string& key, std::string& value) const {
  const json raw = Raw(key);
  const bool small = raw.is_string() && raw.get_ref<const std::string&>().size() <= kLongestText;
  ReadAs(key, small, "a text of at most 100 bytes", value);
}

void ConfigReader::Read(const std::string& key, std::optional<int64_t>& value,
                        int64_t least) const {
  if (Find(key) == nullptr) return;
  Read(key, value.emplace(), least);
}

void ConfigReader::Read(const std::string& key, std::optional<double>& value) const {
  if (Find(key) == nullptr) return;
  Read(key, value.emplace());
}

void ConfigReader::ReadLayers(const std::string& key, int64_t& value) const {
  Read(key, value, /*least=*/0);
  Require(value <= kMostLayers, where_, "{} must be at most {}, got {}", key, kMostLayers, value);
}

void ConfigReader::RequireOnly(const std::string& key, const json& only) const {
  const json* found = Find(key);
  if (found == nullptr || *found == only) return;
  Throw<BadInput>(where_, "{} must be {}, got {}", key, only.dump(), io::Brief(*found));
}

void ConfigReader::RequireKnown(const std::set<std::string>& keys) const {
  std::string others;
  for (const auto& [key, value] : config_.items())
    if (!keys.contains(key)) others += (others.empty() ? "" : ", ") + io::Printable(key).text();
  Require(others.empty(), where_, "has settings that are not known here: {}", others);
}

json ConfigReader::Raw(const std::string& key) const {
  const json* found = Find(key);
  return found == nullptr ? json() : *found;
}

}  // namespace torus
