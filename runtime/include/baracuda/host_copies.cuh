// The copies that a thread has asked for by copy_async and that wait for its wait: reading without one, or without a
// barrier behind it, finds the shared memory as it was.
#pragma once

#include <cstring>
#include <vector>

namespace baracuda {
namespace host {

class Copies {
public:
    void add(void* to, const void* from, unsigned bytes) { waiting.push_back({to, from, bytes, groups}); }
    void commit() { ++groups; }
    // Does those of all groups but the `pending` last; what is in no group yet waits on.
    void wait(unsigned pending) {
        std::size_t done = 0;
        for (; done < waiting.size() && waiting[done].group + pending < groups; ++done)
            std::memcpy(waiting[done].to, waiting[done].from, waiting[done].bytes);
        waiting.erase(waiting.begin(), waiting.begin() + std::ptrdiff_t(done));
    }
    bool are_under_way() const { return !waiting.empty(); }
    void forget() {
        waiting.clear();
        groups = 0;
    }

private:
    struct Copy {
        void* to;
        const void* from;
        unsigned bytes, group;
    };
    std::vector<Copy> waiting;  // in the order of their groups
    unsigned groups = 0;
};

}  // namespace host
}  // namespace baracuda
