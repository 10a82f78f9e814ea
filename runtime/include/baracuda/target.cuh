// The only header that says what is device and what is host. A kernel text uses the names below and compiles
// unchanged with NVRTC and with an ordinary C++ compiler, which runs it through host.cuh.
#pragma once

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define BARACUDA_ON_DEVICE 1
#else
#define BARACUDA_ON_DEVICE 0
#endif

// One name a unit, so that many units can share one C++ file on the host.
#ifndef BARACUDA_NAMESPACE
#define BARACUDA_NAMESPACE baracuda_unit
#endif

namespace baracuda {
// `long long` and not `long` on both targets: the same overloads and the same mangling everywhere.
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using usize = decltype(sizeof(0));  // what sizeof gives
using uptr = unsigned long long;    // an address as a number
static_assert(sizeof(i16) == 2 && sizeof(i32) == 4 && sizeof(i64) == 8 && sizeof(void*) == 8, "an LP64 target");
constexpr int warp_size = 32;
}  // namespace baracuda

// BARACUDA_KERNEL(op, variant, threads, Params) { body }: a kernel whose one parameter is `const Params p`.
// Its symbol is baracuda_<op>_<dtype>, or baracuda_<op>_<dtype>_<variant> for a variant other than contig, with the
// BARACUDA_DTYPE of the place of use. `threads` is the largest block that it may be launched with.
#define BARACUDA_KERNEL(op, variant, threads, Params) \
    BARACUDA_KERNEL_1(baracuda_##op##_, BARACUDA_DTYPE, BARACUDA_IS_##variant, _##variant, threads, BARACUDA_BOUNDS(threads), Params)
// The same for a kernel of whose blocks a multiprocessor has so many at once, as far as that depends on its registers.
#define BARACUDA_KERNEL_AT_ONCE(op, variant, threads, blocks, Params) \
    BARACUDA_KERNEL_1(baracuda_##op##_, BARACUDA_DTYPE, BARACUDA_IS_##variant, _##variant, threads, BARACUDA_BOUNDS_AT_ONCE(threads, blocks), Params)
#define BARACUDA_KERNEL_1(stem, dtype, probe, suffix, threads, bounds, Params) \
    BARACUDA_KERNEL_2(stem, dtype, BARACUDA_SECOND(probe, suffix, ~), threads, bounds, Params)
#define BARACUDA_KERNEL_2(stem, dtype, suffix, threads, bounds, Params) \
    BARACUDA_KERNEL_3(stem, dtype, suffix, threads, bounds, Params)
#define BARACUDA_KERNEL_3(stem, dtype, suffix, threads, bounds, Params) \
    BARACUDA_TARGET_KERNEL(stem##dtype##suffix, threads, bounds, Params)
#define BARACUDA_IS_contig ~,
#define BARACUDA_SECOND(...) BARACUDA_SECOND_1(__VA_ARGS__)
#define BARACUDA_SECOND_1(first, second, ...) second

#if BARACUDA_ON_DEVICE

#define BARACUDA_FN __device__ __forceinline__
#define BARACUDA_RARE __device__ __noinline__
#define BARACUDA_UNROLL _Pragma("unroll")
#define BARACUDA_KEEP_LOOP _Pragma("unroll 1")
#define BARACUDA_UNROLL_BY(count) BARACUDA_PRAGMA(unroll count)
#define BARACUDA_PRAGMA(...) _Pragma(#__VA_ARGS__)
// A header whose kernels need many registers says here that one block a multiprocessor is enough.
#define BARACUDA_BOUNDS(threads) __launch_bounds__(threads)
#define BARACUDA_BOUNDS_AT_ONCE(threads, blocks) __launch_bounds__(threads, blocks)
#define BARACUDA_TARGET_KERNEL(symbol, threads, bounds, Params)                      \
    static_assert(__is_trivially_copyable(Params) && sizeof(Params) <= 4096, #Params \
                  " travels as one kernel parameter");                               \
    extern "C" __global__ void bounds symbol(const __grid_constant__ Params p)
// Static shared memory in function scope; `name` is usable as Type*, its contents are undefined.
#define BARACUDA_SHARED(Type, name, count)                                          \
    __shared__ __align__(16) char name##_bytes[sizeof(Type) * (count)];             \
    Type* const name = reinterpret_cast<Type*>(name##_bytes)

namespace baracuda {
// A struct by one instruction: its copy may be split where the compiler knows its parts.
template <int BYTES> struct Word;
template <> struct Word<2> { using type = u16; };
template <> struct Word<4> { using type = u32; };
template <> struct Word<8> { using type = u64; };
template <> struct Word<16> { using type = uint4; };
template <class Whole> BARACUDA_FN Whole load_whole(const void* from) {
    return __builtin_bit_cast(Whole, *static_cast<const typename Word<sizeof(Whole)>::type*>(from));
}
template <class Whole> BARACUDA_FN void store_whole(void* to, const Whole& value) {
    *static_cast<typename Word<sizeof(Whole)>::type*>(to) = __builtin_bit_cast(typename Word<sizeof(Whole)>::type, value);
}
// The same to global memory, never split: 16 bytes are four numbers to the compiler, which it does not put together everywhere.
template <class Whole> BARACUDA_FN void store_global(void* to, const Whole& value) {
    if constexpr (sizeof(Whole) == 16) {
        const uint4 words = __builtin_bit_cast(uint4, value);
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" :: "l"(__cvta_generic_to_global(to)), "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w) : "memory");
    } else store_whole(to, value);
}
// The same address of global memory, as a value that the compiler adds to and does not take apart again.
BARACUDA_FN const char* settled(const char* address) {
    u64 number = __cvta_generic_to_global(address);
    asm("" : "+l"(number));
    return static_cast<const char*>(__cvta_global_to_generic(number));
}
// What was read from memory before is read again after this.
BARACUDA_FN void forget_memory() { asm volatile("" ::: "memory"); }
// Copies 4, 8 or 16 bytes from global to shared memory in the background; a thread's copies since the last commit are a group.
template <class Whole> BARACUDA_FN void copy_async(Whole* to, const void* from) {
    const u32 address = u32(__cvta_generic_to_shared(to));
    if constexpr (sizeof(Whole) == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(address), "l"(from) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(address), "l"(from), "n"(sizeof(Whole)) : "memory");
}
// 16 bytes of a line of 128 that is used up soon: all of it comes into the cache at once.
template <class Whole> BARACUDA_FN void copy_of_line(Whole* to, const void* from) {
    const u32 address = u32(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(address), "l"(from) : "memory");
}
BARACUDA_FN void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most PENDING of the thread's groups are still under way.
template <int PENDING> BARACUDA_FN void wait_for_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory"); }
// The launch's dynamic shared memory, 16-byte aligned.
BARACUDA_FN char* dynamic_shared() {
    extern __shared__ __align__(16) char baracuda_dynamic_shared[];
    return baracuda_dynamic_shared;
}
}  // namespace baracuda

#else
#include <baracuda/host.cuh>
#endif
