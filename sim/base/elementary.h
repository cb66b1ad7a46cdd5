// sim/base/elementary.h: our own log, exp, pow, log1p, expm1 and sincos.
//
// The C library picks other code by processor, so its last digits differ between machines, and a
// failure date that moves by one ulp moves a whole trace (law 1). These are built from IEEE
// additions, multiplications and divisions only, with -ffp-contract=off.
//
// Error: at most 2 ulp of the true value wherever the result is a normal number (measured against
// 80-bit arithmetic; tests/base/elementary_test.cpp). Outside: a limit (log 0 = -infinity, exp of
// a large number = infinity), NaN where there is no real value, and NaN for NaN.
#pragma once

namespace sim::base {

double natural_log(double x);
double log_one_plus(double x);           // log(1 + x), accurate near 0
double exponential(double x);
double exponential_minus_one(double x);  // accurate near 0
double power(double base, double exponent);  // base >= 0; x^0 = 1 for every x, 0^0 included

// Sine and cosine of the angle 2 pi turn. Exact at quarter turns.
//
// Requires: |turn| <= 2^50.
void sine_cosine_of_turn(double turn, double& sine, double& cosine);

}  // namespace sim::base
