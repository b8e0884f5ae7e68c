#include "tools/codec/figures_json.h"

#include <cmath>

namespace torus::tools {

nlohmann::json ToJson(const std::vector<CodecMeasurement>& measured) {
  nlohmann::json all = nlohmann::json::array();
  for (const CodecMeasurement& m : measured) {
    nlohmann::json one{{"codec", m.codec}, {"values", m.values}, {"values_refused", m.refused}};
    if (m.refused < m.values) {
      one.update({{"bytes", m.bytes},
                  {"bits_per_value", m.bits_per_value()},
                  {"ratio", m.ratio()},
                  {"largest_error", m.largest_error},
                  {"mean_error", m.mean_error()},
                  {"encode_seconds", m.encode_seconds},
                  {"decode_seconds", m.decode_seconds},
                  {"pays_below_bits_per_second", m.pays_below()}});
      if (std::isfinite(m.signal_to_noise_db())) one["signal_to_noise_db"] = m.signal_to_noise_db();
    }
    all.push_back(std::move(one));
  }
  return all;
}

nlohmann::json ToJson(const std::vector<LinkTrial>& trials) {
  nlohmann::json all = nlohmann::json::array();
  for (const LinkTrial& t : trials)
    all.push_back({{"codec", t.codec},
                   {"bits_per_second", t.bits_per_second},
                   {"plain_seconds", t.plain},
                   {"plain_seconds_computed", t.plain_computed},
                   {"coded_seconds", t.coded},
                   {"coded_seconds_computed", t.coded_computed}});
  return all;
}

}  // namespace torus::tools
