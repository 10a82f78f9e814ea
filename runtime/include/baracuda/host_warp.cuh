// What the lanes of a warp get from a shuffle or a vote.
#pragma once

#include <baracuda/host_abi.cuh>

#include <cstring>

namespace baracuda {
namespace host {

constexpr unsigned lanes = 32;

// Gives each lane of `wanted` its result. A source lane that takes no part gives 0xFF bytes.
inline void exchange(WarpRequest* const* requests, unsigned wanted) {
    unsigned char values[lanes][16];
    std::memset(values, 0xFF, sizeof values);
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
        if (((wanted >> lane) & 1) == 0) continue;
        const WarpRequest& request = *requests[lane];
        std::memcpy(values[lane], request.value, sizeof request.value);
        ballot |= unsigned(request.value[0] & 1) << lane;
    }
    for (unsigned lane = 0; lane < lanes; ++lane) {
        if (((wanted >> lane) & 1) == 0) continue;
        WarpRequest& request = *requests[lane];
        const int segment = int(lane) & ~(request.width - 1), last = segment + request.width - 1;
        int source = int(lane);
        unsigned vote = ballot;
        switch (request.kind) {
            case Collective::shuffle: source = segment | (request.argument & (request.width - 1)); break;
            case Collective::shuffle_up: source -= request.argument; break;
            case Collective::shuffle_down: source += request.argument; break;
            case Collective::shuffle_xor: source ^= request.argument; break;
            case Collective::any: vote = ballot != 0; break;
            case Collective::all: vote = ballot == wanted; break;
            case Collective::sync:
            case Collective::ballot: break;
        }
        if (request.kind >= Collective::ballot) {
            std::memcpy(request.value, &vote, sizeof vote);
            continue;
        }
        // Outside of its segment a lane keeps its own value; xor may look at lower segments.
        const bool low = request.kind != Collective::shuffle_xor && source < segment;
        if (source < 0 || low || source > last) source = int(lane);
        std::memcpy(request.value, values[source], sizeof request.value);
    }
}

}  // namespace host
}  // namespace baracuda
