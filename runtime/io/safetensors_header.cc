#include "runtime/io/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/error.h"

namespace torus::safetensors {
namespace {

using Json = nlohmann::json;

// Reads the entries of one file; all errors name it.
class HeaderReader {
 public:
  HeaderReader(std::string path, const std::string& text) : path_(std::move(path)) {
    // JSON has no byte order mark, but the parser would accept one.
    Require(!text.starts_with("\xef\xbb\xbf"), path_, "the header begins with a byte order mark");
    try {
      header_ = Json::parse(text, [this](int depth, Json::parse_event_t event, Json& value) {
        return CheckEvent(depth, event, value);
      });
    } catch (const Json::parse_error& e) {
      Throw<BadInput>(path_, "the header is not UTF-8 JSON (at its byte {})", e.byte);
    } catch (const Json::out_of_range&) {
      Throw<BadInput>(path_, "the header has a number beyond those of f64");
    }
    Require(header_.is_object(), path_, "the header is not a JSON object");
  }

  std::map<std::string, std::string> Metadata() const {
    std::map<std::string, std::string> metadata;
    if (!header_.contains(kMetadata)) return metadata;
    Require(header_[kMetadata].is_object(), path_, "{} is not an object of strings", kMetadata);
    for (const auto& [key, value] : header_[kMetadata].items()) {
      Require(value.is_string(), path_, "{} {} is not a string", kMetadata, Quote(key));
      metadata[key] = value.get<std::string>();
    }
    return metadata;
  }

  // All tensors by position, checked to cover `data_bytes` exactly.
  std::vector<Entry> Entries(uint64_t data_bytes) const {
    std::vector<Entry> entries;
    for (const auto& [name, fields] : header_.items())
      if (name != kMetadata) entries.push_back(ReadEntry(name, fields));
    std::ranges::stable_sort(entries, {},
                             [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
    CheckCover(entries, data_bytes);
    return entries;
  }

 private:
  // Called for each piece as it is parsed; refuses duplicate keys, and nesting that no header has.
  bool CheckEvent(int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      Require(depth <= 2, path_, "the header nests deeper than a tensor's fields");
      if (event == Event::object_start) keys_.emplace_back();
    } else if (event == Event::object_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const auto& key = value.get_ref<const std::string&>();
      Require(keys_.back().insert(key).second, path_, "{} comes twice in the header", Quote(key));
    }
    return true;
  }

  Entry ReadEntry(const std::string& name, const Json& fields) const {
    Require(fields.is_object() && fields.size() == 3 && fields.contains("dtype") &&
                fields.contains("shape") && fields.contains("data_offsets"),
            path_, "tensor {}: needs exactly dtype, shape and data_offsets", Quote(name));
    const io::StoredType& type = ReadType(name, fields["dtype"]);
    Entry entry{name, type.held, ReadShape(name, fields["shape"]), 0, 0, &type};
    const Json& offsets = fields["data_offsets"];
    Require(offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
                offsets[1].is_number_unsigned(),
            path_, "tensor {}: data_offsets must be two whole numbers", Quote(name));
    entry.begin = offsets[0].get<uint64_t>();
    entry.end = offsets[1].get<uint64_t>();
    CheckLength(entry);
    return entry;
  }

  const io::StoredType& ReadType(const std::string& name, const Json& field) const {
    Require(field.is_string(), path_, "tensor {}: dtype is not a string", Quote(name));
    const auto& text = field.get_ref<const std::string&>();
    const io::StoredType* const type = io::StoredTypeNamed(text);
    Require(type != nullptr, path_, "tensor {}: dtype {} is none of {}", Quote(name), Quote(text),
            io::StoredTypeNames());
    return *type;
  }

  Shape ReadShape(const std::string& name, const Json& field) const {
    Require(field.is_array() && field.size() <= kMaxRank, path_,
            "tensor {}: shape must be a list of at most {} sizes", Quote(name), kMaxRank);
    Shape shape;
    for (const Json& size : field) {
      Require(size.is_number_unsigned() &&
                  size.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()},
              path_, "tensor {}: size {} of its shape is not a whole number below 2^63",
              Quote(name), shape.rank());
      shape.push_back(size.get<int64_t>());
    }
    return shape;
  }

  void CheckLength(const Entry& entry) const {
    // Sizes of 0 count as 1 in the overflow check, since strides are products too.
    int64_t bytes = static_cast<int64_t>(entry.stored->bytes);
    bool overflow = false, empty = false;
    for (int64_t size : entry.shape) {
      overflow |= __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes);
      empty |= size == 0;
    }
    Require(!overflow, path_, "tensor {}: shape {} has more bytes than can be counted",
            Quote(entry.name), entry.shape);
    const uint64_t needed = empty ? 0 : static_cast<uint64_t>(bytes);
    Require(entry.begin <= entry.end && entry.end - entry.begin == needed, path_,
            "tensor {}: data_offsets [{}, {}] do not hold the {} bytes of {} {}", Quote(entry.name),
            entry.begin, entry.end, needed, entry.stored->name, entry.shape);
  }

  void CheckCover(const std::vector<Entry>& entries, uint64_t data_bytes) const {
    uint64_t position = 0;
    for (const Entry& entry : entries) {
      Require(entry.begin == position, path_, "tensor {}: begins at {}, {} byte {}",
              Quote(entry.name), entry.begin,
              entry.begin > position ? "leaving a hole from" : "overlapping the bytes before",
              position);
      Require(entry.end <= data_bytes, path_, "tensor {}: ends at {}, the file holds {} data bytes",
              Quote(entry.name), entry.end, data_bytes);
      position = entry.end;
    }
    Require(position == data_bytes, path_, "its tensors take {} data bytes, the file holds {}",
            position, data_bytes);
  }

  std::string path_;
  Json header_;
  std::vector<std::set<std::string>> keys_;  // keys of the objects that are open now
};

}  // namespace

Header ParseHeader(const std::string& path, const std::string& text, uint64_t data_bytes) {
  const HeaderReader reader(path, text);
  return {reader.Metadata(), reader.Entries(data_bytes)};
}

std::string Quote::text() const {
  const std::string text = Json(name).dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 120 ? text : text.substr(0, 117) + "...";
}

}  // namespace torus::safetensors
