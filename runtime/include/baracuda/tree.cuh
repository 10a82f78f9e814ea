// The summation tree: the order in which the elements of one row are merged.
//
// It depends on the row's length and the dtype, and on nothing else: not on the other rows, the strides,
// the alignment, the number of blocks or the card. So a row has one result, whoever computes it.
//   chunk   4096 consecutive elements of the row, in f64 2048
//   lane    one of 32; lane l walks its elements (k * 32 + l) * SIZE + s of a chunk in order (SIZE: how many
//           elements 16 bytes hold)
//   merge   the 32 lanes of a chunk by a balanced binary tree, then the chunks by another
// What is missing at a row's end is an identity, and merging an identity changes no bit.
#pragma once
#include <baracuda/storage.cuh>

namespace baracuda {

constexpr int LANES = 32;
// A lane takes in what is a chunk's one element after the other: in f64, whose instructions take longer, fewer.
template <class T> constexpr int CHUNK = sizeof(T) < 8 ? 4096 : 2048;
constexpr u32 FULL_WARP = 0xffffffffu;

// How many whole packs a lane takes in, where `left` elements of its chunk's row lie behind its first one.
template <class T> BARACUDA_FN int whole_packs(i64 left) {
    constexpr int SIZE = Pack<T>::SIZE, STRIDE = LANES * SIZE;
    if (left < SIZE) return 0;
    const i64 packs = (left - SIZE) / STRIDE + 1;
    return packs < CHUNK<T> / STRIDE ? int(packs) : CHUNK<T> / STRIDE;
}

// A state as words, which are exchanged and chosen one by one.
template <class State> struct alignas(State) Words {
    static constexpr int COUNT = int(sizeof(State) / sizeof(u32));
    static_assert(sizeof(State) % sizeof(u32) == 0, "a state is made of whole words");
    u32 word[COUNT];
};

// A state from another lane.
template <class State, class Exchange> BARACUDA_FN State exchange(const State& state, Exchange word_from) {
    auto words = bit_cast<Words<State>>(state);
    BARACUDA_UNROLL
    for (int w = 0; w < words.COUNT; ++w) words.word[w] = word_from(words.word[w]);
    return bit_cast<State>(words);
}
// One of two states, by value: a choice between their addresses would put both into memory.
template <class State> BARACUDA_FN State choose(bool first, const State& a, const State& b) {
    auto chosen = bit_cast<Words<State>>(a);
    const auto other = bit_cast<Words<State>>(b);
    BARACUDA_UNROLL
    for (int w = 0; w < chosen.COUNT; ++w) chosen.word[w] = first ? chosen.word[w] : other.word[w];
    return bit_cast<State>(chosen);
}
template <class State> BARACUDA_FN State shuffle_xor(const State& state, int mask) {
    return exchange(state, [mask](u32 word) { return __shfl_xor_sync(FULL_WARP, word, mask); });
}
template <class State> BARACUDA_FN State shuffle_from(const State& state, int lane) {
    return exchange(state, [lane](u32 word) { return __shfl_sync(FULL_WARP, word, lane); });
}

// Merges the states of neighbouring lanes in the order of the lanes; every lane gets the result.
// `count`, a power of two, lanes belong together; `step` is the distance between neighbours.
template <class Formula, class State> BARACUDA_FN State merge_lanes(State state, int lane, int count, int step = 1) {
    BARACUDA_KEEP_LOOP  // a merge can be long: one copy of it
    for (int mask = 1; mask < count; mask <<= 1) {
        const State other = shuffle_xor(state, mask * step);
        const bool right = lane & mask;  // choose the operands, not the results: the merge is the long part
        state = Formula::merge(choose(right, other, state), choose(right, state, other));
    }
    return state;
}

// A balanced tree over a sequence of states that one warp meets one after another, 32 to a level.
template <class Formula> struct Fold {
    using State = typename Formula::State;
    static constexpr int LEVELS = 5;  // 32^5 states: more than any memory holds
    State held[LEVELS];

    // The state with number `index`; the numbers come in order. A full level is merged when the next comes.
    BARACUDA_FN void push(State state, i64 index, int lane, int level = 0) {
        BARACUDA_KEEP_LOOP
        for (; level < LEVELS; ++level) {
            const int place = int(index & (LANES - 1));
            const bool full = index > 0 && place == 0;
            const State below = held[level];
            if (full) held[level] = State();
            if (lane == place) held[level] = state;
            if (!full) return;
            state = merge_lanes<Formula>(below, lane, LANES);
            index = (index >> 5) - 1;
        }
    }

    BARACUDA_FN State total(i64 count, int lane) {
        BARACUDA_KEEP_LOOP
        for (int level = 0;; ++level) {
            const State merged = merge_lanes<Formula>(held[level], lane, LANES);
            if (count <= LANES || level == LEVELS - 1) return merged;
            const i64 above = (count - 1) >> 5;
            push(merged, above, lane, level + 1);
            count = above + 1;
        }
    }
};

}  // namespace baracuda
