// sim/tape/coder.h: one listing of fields that both writes and reads bytes.
//
// A type is coded by one function `code(coder, value)` that names its fields in order; with an Encoder
// it appends them, with a Decoder it fills them, so the two directions cannot drift apart. Integers are
// LEB128 varints, signed ones zigzag; doubles are their eight bytes, lowest first.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sim::tape {

// A tape file that cannot be written, or is not what was written. what() is one line for the user.
class TapeFileError : public std::runtime_error {
 public:
  explicit TapeFileError(const std::string& what) : std::runtime_error("tape: " + what) {}
};

class Encoder {
 public:
  static constexpr bool kDecodes = false;

  void word(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void fixed(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void text(const std::string& value) {
    word(value.size());
    bytes_ += value;
  }
  void raw(std::string_view value) { bytes_ += value; }
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

class Decoder {
 public:
  static constexpr bool kDecodes = true;

  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t word() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(next());
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    throw TapeFileError("a number is longer than 64 bits");
  }
  std::uint64_t fixed() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(next())} << (8 * i);
    return value;
  }
  std::string text() {
    const std::size_t length = count();
    std::string value(bytes_.substr(at_, length));
    at_ += length;
    return value;
  }
  // Of things that take at least one byte each.
  std::size_t count() {
    const std::uint64_t value = word();
    if (value > bytes_.size() - at_) throw TapeFileError("a list is longer than its block");
    return static_cast<std::size_t>(value);
  }
  // The next `length` bytes as they stand; they live as long as what is decoded.
  std::string_view raw(std::size_t length) {
    if (length > bytes_.size() - at_) throw TapeFileError("a list is longer than its block");
    at_ += length;
    return bytes_.substr(at_ - length, length);
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  char next() {
    if (at_end()) throw TapeFileError("a block ends inside a fact");
    return bytes_[at_++];
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

inline std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

inline std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// One field: an integer of any width, or a double.
template <class Coder, class Field>
void code(Coder& coder, Field& field) {
  if constexpr (std::is_same_v<Field, double>) {
    if constexpr (Coder::kDecodes) {
      field = std::bit_cast<double>(coder.fixed());
    } else {
      coder.fixed(std::bit_cast<std::uint64_t>(field));
    }
  } else if constexpr (std::is_same_v<Field, std::string>) {
    if constexpr (Coder::kDecodes) {
      field = coder.text();
    } else {
      coder.text(field);
    }
  } else if constexpr (std::is_same_v<Field, bool>) {
    std::uint8_t byte = field;
    code(coder, byte);
    field = byte != 0;
  } else if constexpr (std::is_signed_v<Field>) {
    if constexpr (Coder::kDecodes) {
      field = static_cast<Field>(unzigzag(coder.word()));
    } else {
      coder.word(zigzag(field));
    }
  } else {
    static_assert(std::is_unsigned_v<Field>);
    if constexpr (Coder::kDecodes) {
      const std::uint64_t value = coder.word();
      if (value > std::numeric_limits<Field>::max()) throw TapeFileError("a number is too large");
      field = static_cast<Field>(value);
    } else {
      coder.word(field);
    }
  }
}

// An enumeration whose values run from 0 to `last`.
template <class Coder, class Enum>
void code_enum(Coder& coder, Enum& field, Enum last) {
  auto byte = static_cast<std::uint8_t>(field);
  code(coder, byte);
  if (byte > static_cast<std::uint8_t>(last)) throw TapeFileError("a name's number is unknown");
  field = static_cast<Enum>(byte);
}

template <class Coder, class... Fields>
void code_all(Coder& coder, Fields&... fields) {
  (code(coder, fields), ...);
}

// A date that lies near another one.
template <class Coder>
void code_near(Coder& coder, std::int64_t& date, std::int64_t reference) {
  std::int64_t distance = static_cast<std::int64_t>(static_cast<std::uint64_t>(date) -
                                                    static_cast<std::uint64_t>(reference));
  code(coder, distance);
  date = static_cast<std::int64_t>(static_cast<std::uint64_t>(reference) +
                                   static_cast<std::uint64_t>(distance));
}

// A list; each element is coded by element(value).
template <class Coder, class Element, class CodeElement>
void code_list(Coder& coder, std::vector<Element>& list, CodeElement element) {
  if constexpr (Coder::kDecodes) {
    list.resize(coder.count());
  } else {
    coder.word(list.size());
  }
  for (Element& value : list) element(value);
}

}  // namespace sim::tape
