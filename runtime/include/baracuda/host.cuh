// The CUDA built-ins on the host. Every thread of a block runs the kernel's body; one that waits at a barrier or a
// shuffle keeps its stack (a fiber) while the others catch up. host_scheduler.cuh schedules them.
// Stricter than a GPU, so that mistakes show: threads that have returned do not count at a barrier or a shuffle,
// all threads must stand at the same __syncthreads, shared memory starts as NaN (or as numbers, see fill), and copies
// in the background happen as late, or as early, as they may.
#pragma once

#include <baracuda/host_abi.cuh>

#include <cstring>
#include <type_traits>

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

// Written by the run loop below; the addresses are per OS thread and fibers never change theirs.
static thread_local uint3 threadIdx;
static thread_local uint3 blockIdx;
static thread_local dim3 blockDim;
static thread_local dim3 gridDim;
constexpr int warpSize = 32;

#define BARACUDA_FN inline
#define BARACUDA_RARE inline
#define BARACUDA_UNROLL
#define BARACUDA_KEEP_LOOP
#define BARACUDA_UNROLL_BY(count)

namespace baracuda {
template <class Whole> inline Whole load_whole(const void* from) { return *static_cast<const Whole*>(from); }
inline const char* settled(const char* address) { return address; }
inline void forget_memory() {}
template <class Whole> inline void store_whole(void* to, const Whole& value) { *static_cast<Whole*>(to) = value; }
template <class Whole> inline void store_global(void* to, const Whole& value) { store_whole(to, value); }

namespace host {

static thread_local Worker* worker;

inline const Runtime& runtime() { return *worker->launch->runtime; }

template <typename Params, void (*body)(const Params&)>
void run_threads(Worker* current, const void* params, unsigned first) {
    const Launch& launch = *current->launch;
    worker = current;
    gridDim = {launch.grid[0], launch.grid[1], launch.grid[2]};
    blockDim = {launch.threads, 1, 1};
    blockIdx = {current->block[0], current->block[1], current->block[2]};
    const auto next_thread = launch.runtime->next_thread;
    for (unsigned thread = first; thread != no_thread; thread = next_thread(current)) {
        threadIdx = {thread, 0, 0};
        body(*static_cast<const Params*>(params));
    }
}

inline int block_barrier(Barrier kind, int predicate, const char* file, int line) {
    const uint3 self = threadIdx;  // others run meanwhile
    const int result = runtime().block_barrier(worker, kind, predicate, file, line);
    threadIdx = self;
    return result;
}

template <typename T>
inline T warp_collective(Collective kind, unsigned mask, T value, int argument, int width, const char* file,
                         int line) {
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 16, "a value that a shuffle can carry");
    WarpRequest request = {kind, mask, argument, width, sizeof(T), file, line, {}};
    std::memcpy(request.value, &value, sizeof(T));
    const uint3 self = threadIdx;
    runtime().warp_collective(worker, &request);
    threadIdx = self;
    std::memcpy(&value, request.value, sizeof(T));
    return value;
}

// `Tag` is a lambda's type: one for each declaration, and for each instantiation of the function around it.
template <typename T, unsigned long count, typename Tag>
inline T* shared_array(Tag) {
    static_assert(sizeof(T) * count <= 48 * 1024, "static shared memory ends at 48 KiB: use dynamic_shared()");
    static_assert(alignof(T) <= 64, "shared memory is aligned to at most 64 bytes");
    static const char tag = 0;
    return static_cast<T*>(runtime().shared_array(worker, &tag, sizeof(T) * count, alignof(T)));
}

}  // namespace host

inline char* dynamic_shared() { return host::worker->dynamic_shared; }

template <class Whole> inline void copy_async(Whole* to, const void* from) {
    host::runtime().copy_async(host::worker, to, from, sizeof(Whole));
}
template <class Whole> inline void copy_of_line(Whole* to, const void* from) { copy_async(to, from); }
inline void commit_copies() { host::runtime().commit_copies(host::worker); }
template <int PENDING> inline void wait_for_copies() { host::runtime().wait_for_copies(host::worker, PENDING); }

}  // namespace baracuda

#define BARACUDA_SHARED(Type, name, count) \
    Type* const name = ::baracuda::host::shared_array<Type, (count)>([] {})

// The exported names carry the unit's namespace, so that two units of one library may define one symbol.
#define BARACUDA_BOUNDS(threads)
#define BARACUDA_BOUNDS_AT_ONCE(threads, blocks)
#define BARACUDA_TARGET_KERNEL(symbol, threads, bounds, Params) \
    BARACUDA_HOST_KERNEL(BARACUDA_NAMESPACE, symbol, threads, Params)
#define BARACUDA_HOST_KERNEL(space, symbol, threads, Params) BARACUDA_HOST_KERNEL_1(space, symbol, threads, Params)
#define BARACUDA_HOST_KERNEL_1(space, symbol, threads, Params)                                                    \
    static_assert(std::is_trivially_copyable<Params>::value && sizeof(Params) <= 4096 && alignof(Params) <= 64,   \
                  #Params " travels as one kernel parameter");                                                    \
    static_assert((threads) >= 1 && (threads) <= 1024, "a block has 1 to 1024 threads");                          \
    static void symbol##_body(const Params& p);                                                                   \
    extern "C" {                                                                                                  \
    extern __attribute__((visibility("default"))) const ::baracuda::host::KernelInfo space##_##symbol##_info;     \
    const ::baracuda::host::KernelInfo space##_##symbol##_info = {sizeof(Params), (threads)};                     \
    __attribute__((visibility("default"))) void space##_##symbol(const void* params,                              \
                                                                 const ::baracuda::host::Launch* launch) {        \
        const ::baracuda::host::Kernel kernel = {#symbol, params,                                                 \
                                                 ::baracuda::host::run_threads<Params, symbol##_body>};           \
        launch->runtime->run(launch, &kernel);                                                                    \
    }                                                                                                             \
    }                                                                                                             \
    static void symbol##_body(const Params& p)

// __builtin_FILE and __builtin_LINE as default arguments give the place of the call.
#define BARACUDA_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(BARACUDA_PLACE) {
    baracuda::host::block_barrier(baracuda::host::Barrier::sync, 0, file, line);
}
inline int __syncthreads_or(int predicate, BARACUDA_PLACE) {
    return baracuda::host::block_barrier(baracuda::host::Barrier::any, predicate, file, line);
}
inline int __syncthreads_and(int predicate, BARACUDA_PLACE) {
    return baracuda::host::block_barrier(baracuda::host::Barrier::all, predicate, file, line);
}
inline int __syncthreads_count(int predicate, BARACUDA_PLACE) {
    return baracuda::host::block_barrier(baracuda::host::Barrier::count, predicate, file, line);
}

inline void __syncwarp(unsigned mask = 0xffffffffu, BARACUDA_PLACE) {
    baracuda::host::warp_collective(baracuda::host::Collective::sync, mask, 0u, 0, 32, file, line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, BARACUDA_PLACE) {
    const unsigned vote = predicate != 0;
    return baracuda::host::warp_collective(baracuda::host::Collective::ballot, mask, vote, 0, 32, file, line);
}
inline int __any_sync(unsigned mask, int predicate, BARACUDA_PLACE) {
    const unsigned vote = predicate != 0;
    return int(baracuda::host::warp_collective(baracuda::host::Collective::any, mask, vote, 0, 32, file, line));
}
inline int __all_sync(unsigned mask, int predicate, BARACUDA_PLACE) {
    const unsigned vote = predicate != 0;
    return int(baracuda::host::warp_collective(baracuda::host::Collective::all, mask, vote, 0, 32, file, line));
}
template <typename T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32, BARACUDA_PLACE) {
    return baracuda::host::warp_collective(baracuda::host::Collective::shuffle, mask, value, lane, width, file, line);
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, BARACUDA_PLACE) {
    return baracuda::host::warp_collective(baracuda::host::Collective::shuffle_up, mask, value, int(delta), width, file,
                                           line);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, BARACUDA_PLACE) {
    return baracuda::host::warp_collective(baracuda::host::Collective::shuffle_down, mask, value, int(delta), width,
                                           file, line);
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, BARACUDA_PLACE) {
    return baracuda::host::warp_collective(baracuda::host::Collective::shuffle_xor, mask, value, lane_mask, width, file,
                                           line);
}

// Blocks may run on several OS threads: a real fence, and real atomics.
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline int atomicAdd(int* address, int value) { return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST); }
inline unsigned atomicAdd(unsigned* address, unsigned value) {
    return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
}
inline unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
    return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
}

// Integer intrinsics that index arithmetic uses.
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((static_cast<unsigned long long>(a) * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    __extension__ typedef unsigned __int128 wide;
    return static_cast<unsigned long long>((static_cast<wide>(a) * b) >> 64);
}
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz(unsigned(value)); }
inline int __clzll(long long value) {
    return value == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(value));
}
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }
