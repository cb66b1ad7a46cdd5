// sim/experiment/shared_memory.h: a value that forked processes have in common.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace sim::experiment {

// One T in memory that fork does not copy: what one process writes the others see. Its parts are atomics
// without locks, which work between processes, and it is never destroyed as a T.
// Errors: std::system_error when there is no memory.
template <typename T>
class Shared {
 public:
  Shared() {
    void* const place = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    value_ = new (place) T;
  }
  Shared(const Shared&) = delete;
  ~Shared() { munmap(value_, sizeof(T)); }

  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  T* value_;
};

}  // namespace sim::experiment
