// optim/wire_format.h: what becomes of numbers that travel in fewer bits.
//
// Only what is sent is rounded; sums of what arrived are taken in full precision.
// Source: Streaming DiLoCo, arXiv:2501.18512 (E3M0 on each replica's outer gradient, sums in fp32);
//         INTELLECT-1 (int8).
#pragma once

#include <cstdint>
#include <span>

namespace optim {

enum class WireFormat : std::uint8_t { kFp32, kBf16, kInt8, kInt4, kE3m0 };

// 32, 16, 8, 4, 4. The scale that the narrow formats send with each tensor is not counted: under
// 0.1 % for tensors of a thousand values or more.
int bits_per_value(WireFormat format);

// Replaces `values`, one tensor (or one piece of it), by what the receiver reads.
//   fp32: unchanged.  bf16: to nearest, ties to even.
//   int8, int4: round(v / s) s with s = max |v| / 127 or / 7.
//   e3m0: sign times 2^k, k one of the seven powers down from the scale's, or zero.
// Scale: max |v| over `values` (assumed: the paper leaves the granularity open); all zeros stay so.
void send_through(WireFormat format, std::span<float> values);

}  // namespace optim
