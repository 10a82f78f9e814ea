// Where the operands' elements lie: from a linear index to one offset an operand.
#pragma once
#include <baracuda/target.cuh>

namespace baracuda {

constexpr int MAX_RANK = 8;

// Division by a number known at launch. 32-bit: multiply and shift (Granlund and Montgomery 1994),
// exact for every dividend below 2^31; 64-bit: the plain division.
template <class Offset> struct Divisor;

template <> struct Divisor<i32> {
    u32 divisor, magic, shift;
    BARACUDA_FN i32 quotient(i32 n) const {
        return i32((u32(u64(u32(n)) * magic >> 32) + u32(n)) >> shift);
    }
};

template <> struct Divisor<i64> {
    i64 divisor;
    BARACUDA_FN i64 quotient(i64 n) const { return n / divisor; }
};

// Axes that several operands walk together, outermost first; strides count elements, and any sign goes. An Index of 32 bits
// suffices where there are fewer than 2^31 places.
template <class Offset, int OPERANDS, class Index = Offset> struct Axes {
    i32 rank;
    Divisor<Index> extent[MAX_RANK];
    Offset stride[MAX_RANK][OPERANDS];

    // Adds to each operand's offset the place of the element with linear index `index`.
    BARACUDA_FN void add(Index index, Offset (&offset)[OPERANDS]) const {
        for (i32 axis = rank - 1; axis > 0; --axis) {
            const Index outer = extent[axis].quotient(index);
            const Index inner = index - outer * Index(extent[axis].divisor);
            for (int o = 0; o < OPERANDS; ++o) offset[o] += inner * stride[axis][o];
            index = outer;
        }
        if (rank > 0)
            for (int o = 0; o < OPERANDS; ++o) offset[o] += index * stride[0][o];
    }

    // The same, for kernels that ask in several places: several axes take divisions, of which there is one copy.
    BARACUDA_FN void add_seldom(Index index, Offset (&offset)[OPERANDS]) const {
        if (rank > 1) {
            const Places far = several(index);
            for (int o = 0; o < OPERANDS; ++o) offset[o] += far.of[o];
        } else if (rank > 0) {
            for (int o = 0; o < OPERANDS; ++o) offset[o] += index * stride[0][o];
        }
    }

private:
    struct Places { Offset of[OPERANDS]; };
    BARACUDA_RARE Places several(Index index) const {
        Places far = {};
        add(index, far.of);
        return far;
    }
};

}  // namespace baracuda
