// Stacks and the switch between them, for the host executor. Assembly on x86-64 and AArch64, because swapcontext
// makes a system call for each switch; ucontext elsewhere. AddressSanitizer is told of every switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define BARACUDA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BARACUDA_ASAN 1
#endif
#endif
#ifndef BARACUDA_ASAN
#define BARACUDA_ASAN 0
#endif
#if BARACUDA_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(BARACUDA_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define BARACUDA_UCONTEXT 1
#endif
#ifdef BARACUDA_UCONTEXT
#include <ucontext.h>
#endif

#ifdef __APPLE__
#define BARACUDA_ASM_SYMBOL(name) "_" name
#define BARACUDA_ASM_FUNCTION(name) ".p2align 4\n.private_extern _" name "\n_" name ":\n"
#else
#define BARACUDA_ASM_SYMBOL(name) name
#define BARACUDA_ASM_FUNCTION(name) ".p2align 4\n.hidden " name "\n.globl " name "\n" name ":\n"
#endif

namespace baracuda {
namespace host {

// Large enough for what fits a GPU thread's registers and local memory; pages are taken when they are touched.
constexpr std::size_t stack_bytes = BARACUDA_ASAN ? std::size_t(512) << 10 : std::size_t(128) << 10;

// A place to continue: a fiber's, or that of the OS thread that runs fibers.
struct Context {
#ifdef BARACUDA_UCONTEXT
    ucontext_t state;
#else
    void* stack_pointer = nullptr;
#endif
    const void* bottom = nullptr;  // of the stack, for AddressSanitizer
    std::size_t size = 0;
    void* fake_stack = nullptr;
};

#ifndef BARACUDA_UCONTEXT

extern "C" void baracuda_switch_stack(void** save, void* target);
extern "C" void baracuda_enter_fiber();

#if defined(__x86_64__)
__asm__(".text\n"
        BARACUDA_ASM_FUNCTION("baracuda_switch_stack")
        "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        "movq %rsp, (%rdi)\n"
        "movq %rsi, %rsp\n"
        "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n"
        "ret\n"
        BARACUDA_ASM_FUNCTION("baracuda_enter_fiber")
        "movq %r12, %rdi\n"
        "callq *%r13\n"
        "ud2\n");
#else
__asm__(".text\n"
        BARACUDA_ASM_FUNCTION("baracuda_switch_stack")
        "sub sp, sp, #160\n"
        "stp x19, x20, [sp, #0]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n"
        "stp x25, x26, [sp, #48]\n stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n"
        "stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
        "mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
        "ldp x19, x20, [sp, #0]\n ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n"
        "ldp x25, x26, [sp, #48]\n ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n"
        "ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n"
        "ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
        "add sp, sp, #160\n"
        "ret\n"
        BARACUDA_ASM_FUNCTION("baracuda_enter_fiber")
        "mov x0, x19\n"
        "blr x20\n"
        "brk #1\n");
#endif
#endif

// Makes `context` start `entry(argument)`, which never returns, on `stack`.
inline void prepare(Context& context, char* stack, void (*entry)(void*), void* argument) {
    context.bottom = stack;
    context.size = stack_bytes;
    context.fake_stack = nullptr;
#if BARACUDA_ASAN
    __asan_unpoison_memory_region(stack, stack_bytes);  // frames that were left behind
#endif
#ifdef BARACUDA_UCONTEXT
    getcontext(&context.state);
    context.state.uc_stack.ss_sp = stack;
    context.state.uc_stack.ss_size = stack_bytes;
    context.state.uc_link = nullptr;
    // makecontext passes ints: a pointer travels as two.
    struct Start {
        static void run(unsigned entry_high, unsigned entry_low, unsigned argument_high, unsigned argument_low) {
            const auto join = [](unsigned high, unsigned low) {
                return static_cast<std::uintptr_t>((static_cast<unsigned long long>(high) << 32) | low);
            };
            reinterpret_cast<void (*)(void*)>(join(entry_high, entry_low))(
                reinterpret_cast<void*>(join(argument_high, argument_low)));
        }
    };
    const auto entry_bits = static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(entry));
    const auto argument_bits = static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(argument));
    makecontext(&context.state, reinterpret_cast<void (*)()>(&Start::run), 4, unsigned(entry_bits >> 32),
                unsigned(entry_bits), unsigned(argument_bits >> 32), unsigned(argument_bits));
#else
    void** top = reinterpret_cast<void**>(stack + stack_bytes - 64);  // a multiple of 16 bytes
#if defined(__x86_64__)
    void** frame = top - 7;  // r15, r14, r13, r12, rbx, rbp, return address
    for (int i = 0; i < 7; ++i) frame[i] = nullptr;
    frame[2] = reinterpret_cast<void*>(entry);
    frame[3] = argument;
    frame[6] = reinterpret_cast<void*>(&baracuda_enter_fiber);
#else
    void** frame = top - 20;  // x19 to x30, d8 to d15
    for (int i = 0; i < 20; ++i) frame[i] = nullptr;
    frame[0] = argument;
    frame[1] = reinterpret_cast<void*>(entry);
    frame[11] = reinterpret_cast<void*>(&baracuda_enter_fiber);
#endif
    context.stack_pointer = frame;
#endif
}

// Completes a switch, on the new stack; `previous` is the context that was left.
inline void arrive([[maybe_unused]] Context& self, [[maybe_unused]] Context& previous) {
#if BARACUDA_ASAN
    __sanitizer_finish_switch_fiber(self.fake_stack, &previous.bottom, &previous.size);
#endif
}

// Leaves `from` for `to`. Returns when something switches back; the caller then calls arrive().
inline void leave(Context& from, Context& to) {
#if BARACUDA_ASAN
    __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.size);
#endif
#ifdef BARACUDA_UCONTEXT
    swapcontext(&from.state, &to.state);
#else
    baracuda_switch_stack(&from.stack_pointer, to.stack_pointer);
#endif
}

// A stack with an inaccessible page below it, so that an overflow stops at once. Kept until the process ends.
// Null where the system has no more memory.
inline char* new_stack() {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    mprotect(memory, page, PROT_NONE);
    return static_cast<char*>(memory) + page;
}

}  // namespace host
}  // namespace baracuda
