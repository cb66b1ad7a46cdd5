// optim/layout.h: places tensors one after another in a flat block, each at a multiple of 16 floats.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "optim/aligned_block.h"
#include "optim/model.h"

namespace optim {

class Layout {
 public:
  // Appends a tensor whose `offset` is ignored and replaced; returns its index.
  std::size_t append(Tensor tensor) {
    tensor.offset = block_size_;
    block_size_ += padded(tensor.size());
    parameter_count_ += tensor.size();
    tensors_.push_back(std::move(tensor));
    return tensors_.size() - 1;
  }

  const std::vector<Tensor>& tensors() const { return tensors_; }
  std::size_t parameter_count() const { return parameter_count_; }
  std::size_t block_size() const { return block_size_; }

 private:
  std::vector<Tensor> tensors_;
  std::size_t parameter_count_ = 0;
  std::size_t block_size_ = 0;
};

}  // namespace optim
