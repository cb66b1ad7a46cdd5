// optim/aligned_block.h: float storage whose base is 64-byte aligned.
//
// For parameters, gradients and moments. The kernels of this folder give the same bits at every
// address; alignment keeps a vector from straddling two cache lines, which costs a tenth of a step.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace optim {

constexpr std::size_t kBlockAlignment_bytes = 64;
constexpr std::size_t kFloatsPerLine = kBlockAlignment_bytes / sizeof(float);

// The next multiple of 16 floats.
constexpr std::size_t padded(std::size_t floats) {
  return (floats + kFloatsPerLine - 1) / kFloatsPerLine * kFloatsPerLine;
}

template <typename T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() = default;
  template <typename U>
  explicit LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(
        ::operator new(count * sizeof(T), std::align_val_t{kBlockAlignment_bytes}));
  }
  void deallocate(T* place, std::size_t count) {
    ::operator delete(place, count * sizeof(T), std::align_val_t{kBlockAlignment_bytes});
  }
  bool operator==(const LineAllocator&) const { return true; }
};

// A fixed number of floats, zero at first; copies are deep. Converts to std::span implicitly, as
// every contiguous range does.
class AlignedBlock {
 public:
  AlignedBlock() = default;
  explicit AlignedBlock(std::size_t floats) : floats_(floats, 0.0f) {}

  std::size_t size() const { return floats_.size(); }
  bool empty() const { return floats_.empty(); }
  float* data() { return floats_.data(); }
  const float* data() const { return floats_.data(); }
  float* begin() { return data(); }
  float* end() { return data() + size(); }
  const float* begin() const { return data(); }
  const float* end() const { return data() + size(); }
  float& operator[](std::size_t index) { return floats_[index]; }
  float operator[](std::size_t index) const { return floats_[index]; }
  std::span<float> span() { return {data(), size()}; }
  std::span<const float> span() const { return {data(), size()}; }
  void set_zero() { floats_.assign(floats_.size(), 0.0f); }
  bool operator==(const AlignedBlock&) const = default;  // by value: -0 equals 0

 private:
  std::vector<float, LineAllocator<float>> floats_;
};

}  // namespace optim
