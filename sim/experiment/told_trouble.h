// sim/experiment/told_trouble.h: trouble with a file whose text was written where it happened.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace sim::experiment {

// A std::system_error, and so the user's trouble, whose what() is the given text and no more.
class ToldTrouble : public std::system_error {
 public:
  explicit ToldTrouble(std::string text)
      : std::system_error(EIO, std::generic_category()), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace sim::experiment
