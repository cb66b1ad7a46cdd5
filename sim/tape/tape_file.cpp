// sim/tape/tape_file.cpp: blocks with checksums around the coded facts.
#include "sim/tape/tape_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <ostream>

#include "sim/tape/fact_code.h"

namespace sim::tape {
namespace {

constexpr std::string_view kMagic = "ATOLTAPE";
constexpr std::size_t kBlockBytes = 64 * 1024;
constexpr std::uint64_t kBlockBytesMax = std::uint64_t{1} << 30;  // a fleet's shape may be large

std::array<char, 8> bytes_of(std::uint64_t value) {
  std::array<char, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

std::uint64_t fold(std::uint64_t hash, std::string_view bytes) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
  }
  return hash;
}

// Every step is one to one in the hash, so a single flipped byte always shows.
std::uint64_t checksum(std::uint64_t count, std::string_view payload) {
  const auto size_bytes = bytes_of(payload.size());
  const auto count_bytes = bytes_of(count);
  std::uint64_t hash = fold(0xcbf29ce484222325ull, {size_bytes.data(), size_bytes.size()});
  hash = fold(hash, {count_bytes.data(), count_bytes.size()});
  return fold(hash, payload);
}

void write(std::ostream& out, std::string_view bytes) {
  // A stream that fails stays failed; finish() tells. Throwing here would throw out of whatever
  // destructor happens to say a fact.
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void write_integer(std::ostream& out, std::uint64_t value) {
  const auto bytes = bytes_of(value);
  write(out, {bytes.data(), bytes.size()});
}

}  // namespace

TapeWriter::TapeWriter(std::ostream& out, const RunShape& shape, std::uint64_t scenario_hash)
    : out_(out) {
  write(out_, kMagic);
  write_integer(out_, kTapeFormat);
  written_bytes_ = kMagic.size() + 8;
  block_.fixed(scenario_hash);
  encode(block_, shape);
  write_block(0);
}

void TapeWriter::on(const Fact& fact) {
  encode(block_, fact, last_at_);
  last_at_ = fact.at;
  ++block_facts_;
  ++facts_;
  if (block_.bytes().size() >= kBlockBytes) write_block(block_facts_);
}

void TapeWriter::finish() {
  if (block_facts_ > 0) write_block(block_facts_);
  write_block(facts_);
  out_.flush();
  if (!out_) throw TapeFileError("cannot be written");
}

std::uint64_t TapeWriter::size_bytes() const { return written_bytes_ + block_.bytes().size(); }

void TapeWriter::write_block(std::uint64_t count) {
  const std::string& payload = block_.bytes();
  write_integer(out_, payload.size());
  write_integer(out_, count);
  write_integer(out_, checksum(count, payload));
  write(out_, payload);
  written_bytes_ += 24 + payload.size();
  block_.clear();
  block_facts_ = 0;
  last_at_ = 0;
}

TapeFile::TapeFile(std::istream& in) : in_(in) {
  std::string magic(kMagic.size(), '\0');
  in_.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  if (!in_ || magic != kMagic) throw TapeFileError("this file is not a tape");
  format_ = read_integer();
  if (format_ != kTapeFormat && format_ + 1 != kTapeFormat) {
    throw TapeFileError(
        fmt::format("format must be {} or {}; got {}", kTapeFormat - 1, kTapeFormat, format_));
  }
  if (read_block() != 0) throw TapeFileError("the header is missing");
  scenario_hash_ = decoder_.fixed();
  decode(decoder_, shape_, format_);
  if (!decoder_.at_end()) throw TapeFileError("the header is longer than its fields");
}

bool TapeFile::next(Fact& fact) {
  if (ended_) return false;
  if (block_left_ == 0) {
    const std::uint64_t count = read_block();
    if (payload_.empty()) {
      if (count != facts_) {
        throw TapeFileError(fmt::format("the end mark counts {} facts, the file has {}", count, facts_));
      }
      if (in_.peek() != std::istream::traits_type::eof()) {
        throw TapeFileError("there is something after the end mark");
      }
      ended_ = true;
      return false;
    }
    block_left_ = count;
    last_at_ = 0;
  }
  decode(decoder_, fact, last_at_, contributors_, format_);
  last_at_ = fact.at;
  ++facts_;
  if (--block_left_ == 0 && !decoder_.at_end()) {
    throw TapeFileError(fmt::format("block {} is longer than its facts", blocks_));
  }
  return true;
}

std::uint64_t TapeFile::read_block() {
  ++blocks_;
  const std::uint64_t size_bytes = read_integer();
  const std::uint64_t count = read_integer();
  const std::uint64_t expected = read_integer();
  if (size_bytes > kBlockBytesMax) {
    throw TapeFileError(fmt::format("block {} has an impossible length of {} bytes", blocks_, size_bytes));
  }
  // A flipped length must not cost memory: what is there is read piece by piece.
  payload_.clear();
  while (payload_.size() < size_bytes) {
    const std::size_t done = payload_.size();
    const std::size_t part = std::min<std::size_t>(size_bytes - done, std::size_t{1} << 20);
    payload_.resize(done + part);
    in_.read(payload_.data() + done, static_cast<std::streamsize>(part));
    if (!in_) throw TapeFileError(fmt::format("truncated: block {} is cut off", blocks_));
  }
  if (checksum(count, payload_) != expected) {
    throw TapeFileError(fmt::format("damaged: the checksum of block {} does not match", blocks_));
  }
  if (count == 0 && !payload_.empty() && blocks_ > 1) {
    throw TapeFileError(fmt::format("block {} has bytes but no facts", blocks_));
  }
  decoder_ = Decoder(payload_);
  return count;
}

std::uint64_t TapeFile::read_integer() {
  std::array<char, 8> bytes{};
  in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in_) throw TapeFileError("truncated: there is no end mark");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

}  // namespace sim::tape
