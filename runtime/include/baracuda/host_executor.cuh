// The host executor: runs a kernel's blocks on OS threads and each block's threads on fibers.
// Compiled once, apart from the kernels, which reach it through baracuda_host_runtime (see host_abi.cuh).
#pragma once

#include <baracuda/host_scheduler.cuh>

#include <algorithm>
#include <cfenv>
#include <cstdint>
#include <mutex>
#include <new>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace baracuda {
namespace host {

constexpr unsigned long threads_per_worker = 8192;  // fewer are not worth starting another OS thread

// Schedulers keep their stacks from launch to launch. Never freed: fibers may outlive static destructors.
struct Pool {
    std::mutex guard;
    std::vector<Scheduler*> free;
    Scheduler* take() {
        const std::lock_guard<std::mutex> lock(guard);
        if (free.empty()) return new Scheduler();
        Scheduler* scheduler = free.back();
        free.pop_back();
        return scheduler;
    }
    void give_back(Scheduler* scheduler) {
        const std::lock_guard<std::mutex> lock(guard);
        free.push_back(scheduler);
    }
};

inline Pool& pool() {
    static Pool* const instance = new Pool();
    return *instance;
}

inline std::string& last_error() {
    static thread_local std::string text;
    return text;
}

// A caller's thread may flush subnormal numbers or round towards zero; kernels do neither.
struct DefaultFloats {
    std::fenv_t before;
    DefaultFloats() {
        std::fegetenv(&before);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultFloats() { std::fesetenv(&before); }
};

inline void work_on(Job* job) {
    const DefaultFloats floats;
    Scheduler* scheduler = pool().take();
    try {
        scheduler->work(job);
    } catch (const std::bad_alloc&) {
        const std::lock_guard<std::mutex> lock(job->guard);
        if (!job->failed.exchange(true)) job->error = "no memory to run a block";
        return;
    }
    pool().give_back(scheduler);
}

inline void run(const Launch* launch, const Kernel* kernel) {
    Job job;
    job.launch = launch;
    job.kernel = kernel;
    job.blocks = std::uint64_t(launch->grid[0]) * launch->grid[1] * launch->grid[2];
    const std::uint64_t worth = (job.blocks * launch->threads + threads_per_worker - 1) / threads_per_worker;
    const auto workers = static_cast<unsigned>(
        std::max<std::uint64_t>(1, std::min({std::uint64_t(launch->os_threads), job.blocks, worth})));
    job.chunk = std::max<std::uint64_t>(1, std::min<std::uint64_t>(64, job.blocks / workers / 8));
    if (launch->order == order_shuffle) {
        job.offset = mix(launch->seed) % job.blocks;
        job.stride = mix(launch->seed + 1) % job.blocks | 1;
        while (std::gcd(job.stride, job.blocks) != 1) ++job.stride;
    }
    std::vector<std::thread> others;
    try {
        for (unsigned i = 1; i < workers; ++i) others.emplace_back(work_on, &job);
    } catch (const std::system_error&) {
        // The system gives no more threads: those that there are do the work.
    }
    work_on(&job);
    for (std::thread& other : others) other.join();
    last_error() = job.error;
}

}  // namespace host
}  // namespace baracuda

#define BARACUDA_EXPORT extern "C" __attribute__((visibility("default")))

BARACUDA_EXPORT const baracuda::host::Runtime* baracuda_host_runtime() {
    using namespace baracuda::host;
    static const Runtime runtime = {
        run,
        [](Worker* worker) { return static_cast<Scheduler*>(worker)->next_thread(); },
        [](Worker* worker, Barrier kind, int predicate, const char* file, int line) {
            return static_cast<Scheduler*>(worker)->block_barrier(kind, predicate, file, line);
        },
        [](Worker* worker, WarpRequest* request) { static_cast<Scheduler*>(worker)->warp_collective(request); },
        [](Worker* worker, const void* tag, unsigned long bytes, unsigned long alignment) {
            return static_cast<Scheduler*>(worker)->shared_array(tag, bytes, alignment);
        },
        [](Worker* worker, void* to, const void* from, unsigned bytes) {
            static_cast<Scheduler*>(worker)->copy_async(to, from, bytes);
        },
        [](Worker* worker) { static_cast<Scheduler*>(worker)->current_copies().commit(); },
        [](Worker* worker, unsigned pending) { static_cast<Scheduler*>(worker)->current_copies().wait(pending); },
    };
    return &runtime;
}

// What went wrong in this OS thread's last launch, or an empty string.
BARACUDA_EXPORT const char* baracuda_host_error() { return baracuda::host::last_error().c_str(); }
