#include "tools/codec/codec_table.h"

#include <fmt/format.h>

namespace torus::tools {
namespace {

std::string LineOf(const CodecMeasurement& m) {
  const std::string refused =
      m.refused == 0 ? "" : fmt::format("  ({} values of tensors not carried)", m.refused);
  if (m.values == 0) return fmt::format("{:<24}no values\n", m.codec);
  if (m.refused == m.values) return fmt::format("{:<24} carries none of them\n", m.codec);
  return fmt::format(
      "{:<24}{:>8.3f}{:>8.2f}{:>12.4g}{:>12.4g}{:>8.1f}{:>9.2f}{:>9.2f}{:>15.3f}{}\n", m.codec,
      m.bits_per_value(), m.ratio(), m.largest_error, m.mean_error(), m.signal_to_noise_db(),
      1e-9 * m.encode_rate(), 1e-9 * m.decode_rate(), 1e-9 * m.pays_below(), refused);
}

}  // namespace

std::string TableOf(const std::vector<CodecMeasurement>& measured) {
  std::string text =
      fmt::format("{:<24}{:>8}{:>8}{:>12}{:>12}{:>8}{:>9}{:>9}{:>15}\n", "codec", "bits", "ratio",
                  "max error", "mean error", "SNR dB", "enc GB/s", "dec GB/s", "pays < Gbit/s");
  for (const CodecMeasurement& m : measured) text += LineOf(m);
  return text;
}

}  // namespace torus::tools
