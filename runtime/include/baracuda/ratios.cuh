// Quotients of any numbers, and of products by a square, to the precision of an element type T, as element.cuh has it.
//
// In 16 bits they take one inverse, f32 and f64 divide. In f16 nothing that is made on the way leaves the normal numbers of f32;
// in bf16, which has their range, a divisor is scaled, and products that might have left them go another way.
#pragma once
#include <baracuda/element.cuh>

namespace baracuda {

// A power of two that brings a normal number to between 1 and 16; 2^127 for a smaller one.
BARACUDA_FN float near_scale(float x) { return bit_cast<float>(0x7f000000u - (bit_cast<u32>(x) & 0x7e000000u)); }

// 1 / divisor of 16 bits, as a factor and a power of two.
template <class T> struct ShortInverse {
    float factor, scale = 1.0f;
    BARACUDA_FN explicit ShortInverse(float divisor) {
        if constexpr (is_same<T, bf16>) scale = near_scale(divisor);
        factor = element_inverse<T>(divisor * scale);
    }
    BARACUDA_FN float times(float x) const { return x * factor * scale; }
};

// x / y
template <class T> BARACUDA_FN compute_t<T> element_ratio(compute_t<T> x, compute_t<T> y) {
    if constexpr (is_short<T>) return ShortInverse<T>(y).times(x);
    else return x / y;
}

// x * y / z^2
template <class T> BARACUDA_FN compute_t<T> element_ratio_product(compute_t<T> x, compute_t<T> y, compute_t<T> z) {
    if constexpr (is_short<T>) {
        const ShortInverse<T> inverse(z);
        const float first = inverse.times(x), second = inverse.times(y);
        if constexpr (is_same<T, f16>) return first * second;
        const bool is_lost = ((abs(first) < 0x1p-110f) & (x != 0.0f)) | ((abs(second) < 0x1p-110f) & (y != 0.0f)) |
                             (abs(first) == inf<float>) | (abs(second) == inf<float>);
        return is_lost ? ratio_apart(x, y, z) : first * second;
    } else {
        return scaled_ratio(x, y, z);
    }
}

// x * y / (a^2 + b^2), 0 at the origin: a scale keeps the square of the length from over- and underflowing.
template <class F> BARACUDA_FN F scaled_over_square(F x, F y, F a, F b) {
    const F longer = max(abs(a), abs(b));
    const F scale = normal_scale(clamp(longer, F(2) * limits<F>::smallest_normal, limits<F>::max_value / F(4)));
    const F p = a * scale, q = b * scale, square = p * p + q * q;
    const F inverse = isinf(square) ? F(0) : inverse_of_normal(square);
    return longer == F(0) ? F(0) : product_at_scale(x, y, scale, inverse, scale);
}
BARACUDA_RARE float over_square_of_any(float x, float y, float a, float b) { return scaled_over_square(x, y, a, b); }
template <class T>
BARACUDA_FN compute_t<T> element_over_square(compute_t<T> x, compute_t<T> y, compute_t<T> a, compute_t<T> b) {
    if constexpr (is_same<T, f16>) {
        const float product = x * y * element_inverse<T>(a * a + b * b);
        return bool((a == 0.0f) & (b == 0.0f)) ? 0.0f : product;
    } else if constexpr (is_same<T, bf16>) {
        // Of bits, for of floats the compiler keeps one a use.
        const float longer = bit_cast<float>(max(bit_cast<u32>(abs(a)), bit_cast<u32>(abs(b))));
        const float scale = near_scale(longer), p = a * scale, q = b * scale;
        const float slope = x * element_inverse<T>(fma(p, p, q * q)) * scale;
        const bool is_tiny = (abs(p) < 0x1p-100f) | (abs(q) < 0x1p-100f), has_both = (a != 0.0f) & (b != 0.0f);
        const bool is_lost = (is_tiny & has_both) | !(abs(slope) < inf<float>);
        return is_lost ? over_square_of_any(x, y, a, b) : slope * (y * scale);
    } else {
        return scaled_over_square(x, y, a, b);
    }
}

}  // namespace baracuda
