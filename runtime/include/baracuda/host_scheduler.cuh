// Runs one block of a kernel: its threads on fibers, its barriers, shuffles and shared memory.
//
// Threads of a block run one after another on one fiber. One that waits keeps the fiber, and the rest go on with
// another, so a kernel without barriers never switches. A waiting thread is resumed by whoever waits or ends next,
// directly. When nothing can run and threads are left, the block is in a deadlock, which is reported.
#pragma once

#include <baracuda/host_abi.cuh>
#include <baracuda/host_copies.cuh>
#include <baracuda/host_fiber.cuh>
#include <baracuda/host_warp.cuh>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <string>
#include <vector>

namespace baracuda {
namespace host {

constexpr unsigned max_threads = 1024;
constexpr unsigned max_warps = max_threads / lanes;
constexpr unsigned long max_shared = 227 * 1024;  // what a block can have on sm_90
constexpr unsigned long red_zone = 64;            // between shared arrays, for AddressSanitizer
constexpr unsigned max_shared_arrays = 64;

struct Scheduler;

struct Fiber {
    Context context;
    char* stack;
    Scheduler* scheduler;
    unsigned first = no_thread;  // the thread that it runs when it is next resumed
};

// Where a thread waits.
struct Wait {
    const char* what = nullptr;
    const char* file = nullptr;
    int line = 0;
    unsigned mask = 0;  // of a warp collective, else 0
    bool operator==(const Wait& other) const {
        return what == other.what && line == other.line && mask == other.mask &&
               (file == other.file || (file && other.file && std::strcmp(file, other.file) == 0));
    }
};

enum State : unsigned char { unstarted, running, ready, waiting, returned };

inline std::string describe(const Wait& wait) {
    std::string file = wait.file;
    const auto slash = file.rfind('/');
    if (slash != std::string::npos) file.erase(0, slash + 1);
    std::string text = std::string(wait.what) + " (" + file + ":" + std::to_string(wait.line);
    if (wait.mask != 0) {
        char mask[32];
        std::snprintf(mask, sizeof mask, ", mask 0x%08x", wait.mask);
        text += mask;
    }
    return text + ")";
}

// What the workers of one launch share.
struct Job {
    const Launch* launch;
    const Kernel* kernel;
    std::uint64_t blocks;
    std::uint64_t chunk;
    std::uint64_t stride = 1;  // of the shuffled order of blocks, without a common factor with their number
    std::uint64_t offset = 0;
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> failed{false};
    std::mutex guard;
    std::string error;
};

inline std::uint64_t mix(std::uint64_t value) {  // splitmix64
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

// Runs blocks, one at a time. Its state is that of the current block.
struct Scheduler : Worker {
    Job* job = nullptr;
    unsigned threads = 0;
    std::uint64_t random = 0;

    Context main;
    Context* previous = nullptr;  // the context that was left last
    Fiber* fiber = nullptr;       // the one that runs
    unsigned current = no_thread; // the thread that runs
    unsigned pending = no_thread; // the thread that the ending fiber hands over to
    std::vector<Fiber*> idle;

    unsigned started = 0, finished = 0;
    std::uint16_t order[max_threads];    // of unstarted threads, from `started` on, when shuffled
    std::uint16_t queue[max_threads];    // ready threads, a ring
    unsigned queue_head = 0, queue_size = 0;
    State state[max_threads];
    Fiber* fiber_of[max_threads];
    Wait wait_of[max_threads];
    unsigned barriers_passed[max_threads];
    bool dirty = true;  // barriers_passed is not all zero

    unsigned arrived = 0;
    unsigned first_arrived = 0;
    unsigned predicates = 0;
    int barrier_result = 0;

    WarpRequest* request_of[max_threads];
    unsigned warp_waiting[max_warps];

    struct Array {
        const void* tag;
        void* memory;
    };
    Array arrays[max_shared_arrays];
    unsigned array_count = 0;
    unsigned long shared_used = 0, shared_bytes = 0;
    char* arena = nullptr;

    Copies copies_of[max_threads];
    bool copied = false;  // copies_of is not all empty

    std::string error;

    // Choosing who runs.
    struct Choice {
        unsigned thread;
        bool fresh;
    };

    unsigned random_below(unsigned bound) {
        random = mix(random);
        return static_cast<unsigned>(((random >> 32) * bound) >> 32);
    }

    void make_ready(unsigned thread) {
        state[thread] = ready;
        queue[(queue_head + queue_size++) % max_threads] = static_cast<std::uint16_t>(thread);
    }

    Choice choose() {
        const unsigned fresh = threads - started;
        if (launch->order == order_shuffle) {
            if (fresh + queue_size == 0) return {no_thread, false};
            const unsigned pick = random_below(fresh + queue_size);
            if (pick < fresh) {
                std::swap(order[started], order[started + pick]);
                return {order[started++], true};
            }
            std::swap(queue[(queue_head + pick - fresh) % max_threads],
                      queue[(queue_head + queue_size - 1) % max_threads]);
            return {queue[(queue_head + --queue_size) % max_threads], false};
        }
        // The last to become ready goes on, so one warp runs as far ahead of the others as barriers let it.
        if (launch->order == order_ahead && queue_size != 0) {
            return {queue[(queue_head + --queue_size) % max_threads], false};
        }
        if (fresh != 0) {
            const unsigned index = started++;
            return {launch->order == order_reverse ? threads - 1 - index : index, true};
        }
        if (queue_size == 0) return {no_thread, false};
        const unsigned thread = queue[queue_head];
        queue_head = (queue_head + 1) % max_threads;
        --queue_size;
        return {thread, false};
    }

    // Releases threads first .. first + count that `select` has bits for, in the launch's order.
    void release(unsigned first, unsigned count, unsigned select) {
        for (unsigned i = 0; i < count; ++i) {
            const unsigned index = launch->order == order_reverse ? count - 1 - i : i;
            if ((select >> (index % lanes)) & 1) make_ready(first + index);
        }
    }

    // Switching.
    void go(Context& from, Context& to) {
        previous = &from;
        leave(from, to);
        arrive(from, *previous);
    }

    static void fiber_main(void* argument) {
        Fiber* self = static_cast<Fiber*>(argument);
        Scheduler& scheduler = *self->scheduler;
        arrive(self->context, *scheduler.previous);
        for (;;) {
            const Kernel& kernel = *scheduler.job->kernel;
            kernel.run(&scheduler, kernel.params, self->first);
            scheduler.idle.push_back(self);
            scheduler.go(self->context, scheduler.pending == no_thread ? scheduler.main
                                                                       : scheduler.resume(scheduler.pending));
        }
    }

    void renew(Fiber* target) { prepare(target->context, target->stack, fiber_main, target); }

    // Adds an idle fiber; false without memory for it.
    bool add_fiber() {
        char* stack = new_stack();
        Fiber* added = stack ? new (std::nothrow) Fiber{{}, stack, this, no_thread} : nullptr;
        if (!added) return false;
        renew(added);
        idle.push_back(added);
        return true;
    }

    Context& start(unsigned thread) {
        // An exception could not leave a fiber.
        if (idle.empty() && !add_fiber()) fail("no memory for the stacks of a block's threads");
        fiber = idle.back();
        idle.pop_back();
        fiber->first = current = thread;
        state[thread] = running;
        return fiber->context;
    }

    Context& resume(unsigned thread) {
        fiber = fiber_of[thread];
        current = thread;
        state[thread] = running;
        return fiber->context;
    }

    // The current thread has registered where it waits (or is ready again); others run until it is resumed.
    void suspend() {
        const unsigned self = current;
        Fiber* const own = fiber;
        fiber_of[self] = own;
        const Choice choice = choose();
        if (choice.thread == self) {
            state[self] = running;
        } else if (choice.thread == no_thread) {
            go(own->context, main);
        } else {
            go(own->context, choice.fresh ? start(choice.thread) : resume(choice.thread));
        }
    }

    unsigned next_thread() {
        // They could still be done when others have its place.
        if (copied && copies_of[current].are_under_way())
            fail("thread " + std::to_string(current) + " ends with copies that it has not waited for");
        state[current] = returned;
        ++finished;
        const Choice choice = choose();
        if (choice.fresh) {
            current = choice.thread;
            state[current] = running;
            return current;
        }
        pending = choice.thread;
        return no_thread;
    }

    // Gives the block up; the fibers' frames are abandoned.
    [[noreturn]] void fail(const std::string& message) {
        error = message;
        fiber_of[current] = fiber;
        go(fiber->context, main);
        std::abort();
    }

    // Barriers.
    int block_barrier(Barrier kind, int predicate, const char* file, int line) {
        static const char* const names[] = {"__syncthreads", "__syncthreads_or", "__syncthreads_and",
                                            "__syncthreads_count"};
        const Wait wait = {names[static_cast<int>(kind)], file, line, 0};
        const unsigned self = current;
        if (arrived == 0) {
            first_arrived = self;
            predicates = 0;
        } else if (!(wait == wait_of[first_arrived])) {
            fail("divergent barriers: thread " + std::to_string(self) + " is at " + describe(wait) +
                 " while thread " + std::to_string(first_arrived) + " waits at " + describe(wait_of[first_arrived]));
        }
        wait_of[self] = wait;
        state[self] = waiting;
        predicates += predicate != 0;
        if (++arrived == threads) {
            arrived = 0;
            barrier_result = kind == Barrier::any   ? predicates != 0
                             : kind == Barrier::all ? predicates == threads
                                                    : static_cast<int>(predicates);
            release(0, threads, ~0u);
        }
        suspend();
        dirty = true;
        ++barriers_passed[self];
        return barrier_result;
    }

    void warp_collective(WarpRequest* request) {
        static const char* const names[] = {"__syncwarp",      "__shfl_sync",   "__shfl_up_sync", "__shfl_down_sync",
                                            "__shfl_xor_sync", "__ballot_sync", "__any_sync",     "__all_sync"};
        const unsigned self = current, warp = self / lanes, lane = self % lanes;
        const Wait wait = {names[static_cast<int>(request->kind)], request->file, request->line, request->mask};
        if (((request->mask >> lane) & 1) == 0)
            fail("thread " + std::to_string(self) + " calls " + describe(wait) + ", a mask without its own lane " +
                 std::to_string(lane));
        if (request->width < 1 || request->width > 32 || (request->width & (request->width - 1)) != 0)
            fail("thread " + std::to_string(self) + " calls " + describe(wait) + " with width " +
                 std::to_string(request->width) + ", want a power of two up to 32");
        wait_of[self] = wait;
        state[self] = waiting;
        request_of[self] = request;
        warp_waiting[warp] |= 1u << lane;
        // Lanes that a last, partial warp lacks are not waited for.
        const unsigned first = warp * lanes, count = std::min(lanes, threads - first);
        const unsigned wanted = count == lanes ? request->mask : request->mask & ((1u << count) - 1);
        bool complete = (warp_waiting[warp] & wanted) == wanted;
        for (unsigned i = 0; complete && i < count; ++i) {
            const WarpRequest* other = request_of[first + i];
            complete = ((wanted >> i) & 1) == 0 || (other->kind == request->kind && other->mask == request->mask);
        }
        if (complete) {
            exchange(request_of + first, wanted);
            warp_waiting[warp] &= ~wanted;
            release(first, count, wanted);
        }
        suspend();
    }

    // Shared memory.
    Copies& current_copies() {
        copied = true;
        return copies_of[current];
    }

    // A GPU does a copy any time before its wait: here at the last moment, or at once, or now so and now so.
    void copy_async(void* to, const void* from, unsigned bytes) {
        if (launch->order == order_reverse || (launch->order == order_shuffle && random_below(2) == 0))
            std::memcpy(to, from, bytes);
        else
            current_copies().add(to, from, bytes);
    }

    void* shared_array(const void* tag, unsigned long bytes, unsigned long alignment) {
        for (unsigned i = 0; i < array_count; ++i)
            if (arrays[i].tag == tag) return arrays[i].memory;
        alignment = std::max(alignment, 16ul);
        const unsigned long begin = (shared_used + alignment - 1) / alignment * alignment;
        shared_bytes += bytes;
        if (shared_bytes > max_shared || array_count == max_shared_arrays)
            fail("the block asks for " + std::to_string(shared_bytes) + " bytes of shared memory in " +
                 std::to_string(array_count + 1) + " arrays, a GPU has " + std::to_string(max_shared));
        shared_used = begin + bytes + red_zone;
        arrays[array_count++] = {tag, fill(begin, bytes)};
        return arrays[array_count - 1].memory;
    }

    // NaNs, and in one order numbers: a kernel may take care of what is not finite, and so hide that it read too early.
    char* fill(unsigned long begin, unsigned long bytes) {
#if BARACUDA_ASAN
        __asan_unpoison_memory_region(arena + begin, bytes);
#endif
        std::memset(arena + begin, launch->order == order_ahead ? 0x3F : 0xFF, bytes);
        return arena + begin;
    }

    // Blocks.
    void run_block(std::uint64_t index) {
        const unsigned* grid = launch->grid;
        std::uint64_t place = index;
        if (launch->order == order_reverse) place = job->blocks - 1 - index;
        if (launch->order == order_shuffle) {
            __extension__ typedef unsigned __int128 wide;
            place = static_cast<std::uint64_t>((static_cast<wide>(job->stride) * index + job->offset) % job->blocks);
            std::iota(order, order + threads, std::uint16_t(0));
            random = mix(launch->seed ^ mix(place));
        }
        block[0] = static_cast<unsigned>(place % grid[0]);
        block[1] = static_cast<unsigned>(place / grid[0] % grid[1]);
        block[2] = static_cast<unsigned>(place / grid[0] / grid[1]);
        started = finished = arrived = 0;
        queue_head = queue_size = 0;
        std::memset(state, unstarted, threads);
        if (dirty) {
            std::memset(barriers_passed, 0, sizeof barriers_passed);
            std::memset(warp_waiting, 0, sizeof warp_waiting);
            dirty = false;
        }
        if (copied) {
            for (Copies& copies : copies_of) copies.forget();
            copied = false;
        }
        array_count = 0;
        shared_bytes = launch->shared_bytes;
#if BARACUDA_ASAN
        __asan_poison_memory_region(arena, arena_bytes());
#endif
        dynamic_shared = fill(0, launch->shared_bytes);
        shared_used = launch->shared_bytes + red_zone;

        go(main, start(choose().thread));
        if (finished == threads) return;
        report();
        for (unsigned thread = 0; thread < threads; ++thread) {
            if (state[thread] == unstarted || state[thread] == returned) continue;
            renew(fiber_of[thread]);
            idle.push_back(fiber_of[thread]);
        }
        dirty = true;
    }

    static constexpr unsigned long arena_bytes() { return max_shared + (max_shared_arrays + 1) * 2 * red_zone; }

    // One line for each group of threads that stand at the same place.
    void report() {
        std::string text = "kernel " + std::string(job->kernel->name) + ", block (" + std::to_string(block[0]) + ", " +
                           std::to_string(block[1]) + ", " + std::to_string(block[2]) + "): ";
        text += error.empty() ? "deadlock: " + groups() : error;
        error.clear();
        const std::lock_guard<std::mutex> lock(job->guard);
        if (!job->failed.exchange(true)) job->error = text;
    }

    std::string groups() const {
        struct Group {
            unsigned first, size;
        };
        std::vector<Group> found;
        const auto same = [this](unsigned a, unsigned b) {
            return state[a] == state[b] && barriers_passed[a] == barriers_passed[b] &&
                   (state[a] == returned || wait_of[a] == wait_of[b]);
        };
        for (unsigned thread = 0; thread < threads; ++thread) {
            const auto group = std::find_if(found.begin(), found.end(),
                                            [&](const Group& known) { return same(known.first, thread); });
            if (group == found.end())
                found.push_back({thread, 1});
            else
                ++group->size;
        }
        std::string text;
        for (unsigned i = 0; i < found.size() && i < 6; ++i) {
            const unsigned first = found[i].first, others = found[i].size - 1;
            text += (i == 0 ? "thread " : "; thread ") + std::to_string(first);
            if (others != 0) text += " and " + std::to_string(others) + (others == 1 ? " other" : " others");
            text += state[first] == returned ? std::string(others == 0 ? " has returned" : " have returned")
                                             : (others == 0 ? " waits at " : " wait at ") + describe(wait_of[first]);
            text += " after " + std::to_string(barriers_passed[first]) + " block barriers";
        }
        return text;
    }

    void work(Job* shared) {
        job = shared;
        launch = job->launch;
        threads = launch->threads;
        if (!arena) arena = static_cast<char*>(std::aligned_alloc(128, (arena_bytes() + 127) / 128 * 128));
        if (!arena || (idle.empty() && !add_fiber())) throw std::bad_alloc();
        while (!job->failed.load(std::memory_order_relaxed)) {
            const std::uint64_t begin = job->next.fetch_add(job->chunk, std::memory_order_relaxed);
            if (begin >= job->blocks) break;
            const std::uint64_t end = std::min(job->blocks, begin + job->chunk);
            for (std::uint64_t i = begin; i < end && !job->failed.load(std::memory_order_relaxed); ++i) run_block(i);
        }
    }
};
}  // namespace host
}  // namespace baracuda
