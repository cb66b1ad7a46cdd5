// optim/wire_format.h: what becomes of numbers that travel in fewer bits.
//
// Only what is sent is rounded; sums of what arrived are taken in full precision.
// Source: Streaming DiLoCo, arXiv:2501.18512 (E3M0 on each replica's outer gradient, sums in fp32).
//         The integer formats are ours: the plain uniform grid (INTELLECT-1, arXiv:2412.01152, also
//         sends 8 bits, by a codebook of 256 buckets).
#pragma once

#include <cstdint>
#include <span>

namespace optim {

enum class WireFormat : std::uint8_t { kFp32, kBf16, kInt8, kInt4, kE3m0 };

// 32, 16, 8, 4, 4. The 32 bits of scale that a narrow format sends with each tensor are not counted:
// at 4 bits they add 0.8 % to a tensor of a thousand values, 0.1 % to one of eight thousand.
int bits_per_value(WireFormat format);

// Replaces `values`, one tensor (or one piece of it), by what the receiver reads. With s the largest
// finite |v| of them (assumed: the paper leaves the granularity of scales open):
//   fp32:  v
//   bf16:  v to the nearest of 8 significant bits, ties to even; above the largest, infinity
//   int8:  n s / 127, n = v 127 / s to the nearest integer, ties to even: -127 .. 127
//   int4:  n s / 7, alike: -7 .. 7
//   e3m0:  one sign bit and three exponent bits: seven of the eight exponent codes are the
//          magnitudes s, s/2, .., s/64, the eighth is zero. The nearest of these eight on a linear
//          scale, ties to the larger: below s/128 a value becomes zero.
// So s itself always arrives as it is, and sending twice changes nothing more. All zeros stay zeros;
// a zero of the integer formats has no sign.
// Non-finite: stays what it is, in each format, and has no say in the scale: a run that diverges is
//             seen to diverge.
void send_through(WireFormat format, std::span<float> values);

}  // namespace optim
