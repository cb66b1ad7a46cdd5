// sim/base/elementary.h: our own log, exp, pow, log1p, expm1 and sincos.
//
// The C library picks other code by processor, so its last digits differ between machines, and a
// failure date that moves by one ulp moves a whole trace (law 1). These are built from IEEE
// additions and multiplications only, with -ffp-contract=off; each is within 2 ulp of the true
// value over the range that the simulator uses.
#pragma once

namespace sim::base {

double natural_log(double x);         // x > 0
double log_one_plus(double x);        // log(1 + x), accurate near 0; x > -1
double exponential(double x);
double exponential_minus_one(double x);
double power(double base, double exponent);  // base >= 0
void sine_cosine_of_turn(double turn, double& sine, double& cosine);  // angle 2*pi*turn, turn in [0, 1]

}  // namespace sim::base
