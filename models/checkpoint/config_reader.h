// ConfigReader: reads values of a config.json, each of the type that is wanted.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace torus {

// The most layers that a configuration may ask for: a damaged number must not exhaust the memory.
inline constexpr int64_t kMostLayers = 1000;

// A value that is absent or null leaves `value` as it is, so that a struct's defaults are the
// reference's. BadInput tagged `where` for another type, a whole number beyond 2^28, a text of
// more than 100 bytes, and for a configuration that is no object.
// Keys that nobody reads are no error unless RequireKnown asks: config.json also says who made it,
// and what a tokenizer does.
class ConfigReader {
 public:
  ConfigReader(const nlohmann::json& config, std::string where);

  void Read(const std::string& key, int64_t& value) const;
  void Read(const std::string& key, double& value) const;
  void Read(const std::string& key, bool& value) const;
  void Read(const std::string& key, std::string& value) const;
  void Read(const std::string& key, std::optional<int64_t>& value) const;
  void Read(const std::string& key, std::optional<double>& value) const;

  // BadInput unless `key` is absent, null or `only`: any other value asks for what is not
  // implemented here.
  void RequireOnly(const std::string& key, const nlohmann::json& only) const;
  // BadInput naming each key that is none of `keys`: for configurations of which nothing may go
  // unread.
  void RequireKnown(const std::set<std::string>& keys) const;
  // The value, null where absent.
  nlohmann::json Raw(const std::string& key) const;
  const std::string& where() const { return where_; }

 private:
  const nlohmann::json* Find(const std::string& key) const;
  template <class T>
  void ReadAs(const std::string& key, bool fits, const char* wanted, T& value) const;

  const nlohmann::json& config_;
  std::string where_;
};

}  // namespace torus
