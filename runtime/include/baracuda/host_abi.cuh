// What a compiled kernel library and the host executor (host_executor.cuh) agree on. Plain data and function
// pointers, so that the two are compiled apart and a kernel library pulls in no standard header for it.
// HostLaunch in runtime/host.py has the layout of Launch.
#pragma once

namespace baracuda {
namespace host {

struct Runtime;

enum Order : unsigned { order_forward = 0, order_reverse = 1, order_shuffle = 2, order_ahead = 3 };

struct Launch {
    const Runtime* runtime;
    unsigned grid[3];
    unsigned threads;        // a block is (threads, 1, 1)
    unsigned shared_bytes;   // dynamic shared memory
    unsigned order;          // Order, of threads between barriers and of blocks
    unsigned long long seed; // of order_shuffle
    unsigned os_threads;     // upper bound
    unsigned reserved;
};

// The part of a worker (an OS thread that runs blocks) that kernel libraries read.
struct Worker {
    const Launch* launch;
    unsigned block[3];
    char* dynamic_shared;
};

constexpr unsigned no_thread = ~0u;

struct Kernel {
    const char* name;
    const void* params;
    // Runs thread `first` and then each that Runtime::next_thread gives.
    void (*run)(Worker* worker, const void* params, unsigned first);
};

enum class Barrier : int { sync, any, all, count };
enum class Collective : int { sync, shuffle, shuffle_up, shuffle_down, shuffle_xor, ballot, any, all };

struct WarpRequest {
    Collective kind;
    unsigned mask;
    int argument;  // source lane, delta or lane mask
    int width;
    unsigned bytes;
    const char* file;
    int line;
    alignas(16) unsigned char value[16];  // in: this lane's; out: the result
};

struct Runtime {
    void (*run)(const Launch* launch, const Kernel* kernel);
    // Retires the running thread; the next to run on this fiber, or no_thread.
    unsigned (*next_thread)(Worker* worker);
    int (*block_barrier)(Worker* worker, Barrier kind, int predicate, const char* file, int line);
    void (*warp_collective)(Worker* worker, WarpRequest* request);
    // The block's array for the declaration `tag`, filled by the first thread that meets it.
    void* (*shared_array)(Worker* worker, const void* tag, unsigned long bytes, unsigned long alignment);
    // Of the running thread: a copy that is done at a wait, the end of a group of them, the wait for all groups but
    // the `pending` last.
    void (*copy_async)(Worker* worker, void* to, const void* from, unsigned bytes);
    void (*commit_copies)(Worker* worker);
    void (*wait_for_copies)(Worker* worker, unsigned pending);
};

// Exported beside each kernel as <symbol>_info.
struct KernelInfo {
    unsigned params_bytes;
    unsigned max_threads;
};

}  // namespace host
}  // namespace baracuda
