// Angles that are a whole number of positions times a frequency, and their sine and cosine.
//
// Made of IEEE operations alone (+ - * fma rint), so host and device give equal bits. An angle is counted in
// quarter turns: its whole part then picks the quadrant without error, however large the position. What the
// product position * frequency loses to rounding is added to its fraction, and the frequency carries about 106
// bits, so that the fraction is right to about 2^-107 * |position * frequency| quarter turns. A position is
// exact up to 2^53.
#pragma once
#include <baracuda/math.cuh>
#include <baracuda/storage.cuh>

namespace baracuda {

// Quarter turns a position: the unevaluated sum of two doubles.
struct Frequency { f64 high, low; };

// From radians a position: times 2 / pi, which is here to 106 bits.
BARACUDA_FN Frequency quarter_turns(f64 radians) {
    constexpr f64 HIGH = 0x1.45f306dc9c883p-1, LOW = -0x1.6b01ec5417056p-55;
    const f64 high = radians * HIGH;
    return {high, fma(radians, LOW, fma(radians, HIGH, -high))};
}

struct Angle { f64 cosine, sine; };

BARACUDA_FN f64 cos(const Angle& angle) { return angle.cosine; }
BARACUDA_FN f64 sin(const Angle& angle) { return angle.sine; }

// The angle position * frequency. Both results are within 1.3 units in the last place.
BARACUDA_FN Angle angle_of(i64 position, const Frequency& frequency) {
    const f64 p = f64(position);
    const f64 quarters = p * frequency.high;
    const f64 lost = fma(p, frequency.high, -quarters);
    const f64 whole = round(quarters);
    const f64 q = (quarters - whole) + fma(p, frequency.low, lost);  // at most a little over 1/2

    // sin(q pi/2) = q (pi/2 + u P(u)) and cos(q pi/2) = 1 + u Q(u) with u = q * q <= 0.2505: minimax
    // polynomials (Remez), off by 2^-57 and 2^-64 of the result; pi/2 in two parts.
    const f64 u = q * q;
    f64 sine = 0x1.e3fc9eb0fa18fp-25;
    sine = fma(sine, u, -0x1.e30091b342c63p-19);
    sine = fma(sine, u, 0x1.50783005575e7p-13);
    sine = fma(sine, u, -0x1.32d2cce31dd39p-8);
    sine = fma(sine, u, 0x1.466bc67758c64p-4);
    sine = fma(sine, u, -0x1.4abbce625be46p-1);
    sine = fma(q, 0x1.921fb54442d18p+0, q * fma(sine, u, 0x1.1a62633145c07p-54));

    f64 cosine = -0x1.b26172de8834ap-28;
    cosine = fma(cosine, u, 0x1.f9cc3924d1437p-22);
    cosine = fma(cosine, u, -0x1.a6d1ec747fef9p-16);
    cosine = fma(cosine, u, 0x1.e1f506835bd7ep-11);
    cosine = fma(cosine, u, -0x1.55d3c7e3c9209p-6);
    cosine = fma(cosine, u, 0x1.03c1f081b5aaep-2);
    cosine = fma(cosine, u, -0x1.3bd3cc9be45dep+0);
    cosine = fma(cosine, u, 1.0);

    // A whole part beyond 2^62 has no bits left that could pick a quadrant.
    const i32 quadrant = abs(whole) < 0x1p62 ? i32(i64(whole) & 3) : 0;
    const bool swapped = quadrant & 1;
    const f64 c = swapped ? sine : cosine, s = swapped ? cosine : sine;
    return {quadrant == 1 || quadrant == 2 ? -c : c, quadrant >= 2 ? -s : s};
}

}  // namespace baracuda
