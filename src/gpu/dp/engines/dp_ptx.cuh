/**
 * @file dp_ptx.cuh
 * What strips of a table need beneath CUDA C++: tickets, words that other warps wait for, and the
 * carry chain of long additions.
 *
 * A warp takes strips by a ticket, so every strip it can wait for has been taken before by a warp
 * that runs: waiting ends, whatever the number of warps that are resident.
 *
 * Also part of the text that is compiled at run time (dp_engine.cuh).
 */
#pragma once

#ifdef __CUDACC_RTC__ /* has no headers */
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

enum { DP_WARP = 32 };
#define DP_ALL_LANES 0xffffffffu

/** Begin of the block's dynamic shared memory. */
static __device__ __forceinline__ void *dp_shared(void) {
  extern __shared__ uint4 dp_shared_memory[];
  return dp_shared_memory;
}

/** Next number of a counter that starts at zero, the same in all lanes. */
static __device__ __forceinline__ uint32_t dp_next_ticket(uint32_t *counter, int lane) {
  uint32_t ticket = 0;
  if (lane == 0) ticket = atomicAdd(counter, 1u);
  return __shfl_sync(DP_ALL_LANES, ticket, 0);
}

/** Number of the multiprocessor that runs the thread, and of the warp's place on it. */
static __device__ __forceinline__ uint32_t dp_processor(void) {
  uint32_t number;
  asm("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}
static __device__ __forceinline__ uint32_t dp_warp_place(void) {
  uint32_t number;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(number));
  return number;
}

/** A word and its mark, read and written whole by different warps. */
static __device__ __forceinline__ uint64_t dp_load_whole(const uint64_t *place) {
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  return value;
}
static __device__ __forceinline__ void dp_store_whole(uint64_t *place, uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(place), "l"(value) : "memory");
}

/** A counter: what was written before its store is seen after a load that returns the new value. */
static __device__ __forceinline__ uint32_t dp_load_acquire(const uint32_t *place) {
  uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
  return value;
}
static __device__ __forceinline__ void dp_store_release(uint32_t *place, uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(place), "r"(value) : "memory");
}

/** What the lanes of the warp have written before is seen by who reads value from the counter. */
static __device__ __forceinline__ void dp_post_counter(uint32_t *counter, uint32_t value,
                                                       int lane) {
  __syncwarp();
  if (lane == 0) {
    __threadfence();
    dp_store_release(counter, value);
  }
}

/** Copy 16 aligned bytes of global to shared memory, past the first cache; wait for it later. */
static __device__ __forceinline__ void dp_copy16(void *shared, const void *global) {
#if __CUDA_ARCH__ >= 800
  const uint32_t place = (uint32_t)__cvta_generic_to_shared(shared);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(place), "l"(global) : "memory");
#else
  *(uint4 *)shared = __ldcg((const uint4 *)global);
#endif
}
static __device__ __forceinline__ void dp_copy_commit(void) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}
/** All copies but those of the last N commits are done. */
template <int N> static __device__ __forceinline__ void dp_copy_wait(void) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
#endif
}

/**
 * One row of long addition: sum = v + x + carry over K words, the carry taken from the top bit of
 * in, which moves up, and put into the lowest bit of out, which moves up before.
 */
template <int K>
static __device__ __forceinline__ void dp_add_row(uint32_t *in, uint32_t *out, uint32_t (&sum)[K],
                                                  const uint32_t (&v)[K], const uint32_t (&x)[K]) {
  static_assert(K == 1 || K == 2 || K == 4, "words of a lane");
  if (K == 1)
    asm("add.cc.u32 %0, %0, %0;\n\t"
        "addc.cc.u32 %2, %3, %4;\n\t"
        "addc.u32 %1, %1, %1;"
        : "+r"(*in), "+r"(*out), "=&r"(sum[0])
        : "r"(v[0]), "r"(x[0]));
  else if (K == 2)
    asm("add.cc.u32 %0, %0, %0;\n\t"
        "addc.cc.u32 %2, %4, %5;\n\t"
        "addc.cc.u32 %3, %6, %7;\n\t"
        "addc.u32 %1, %1, %1;"
        : "+r"(*in), "+r"(*out), "=&r"(sum[0]), "=&r"(sum[K - 1])
        : "r"(v[0]), "r"(x[0]), "r"(v[K - 1]), "r"(x[K - 1]));
  else
    asm("add.cc.u32 %0, %0, %0;\n\t"
        "addc.cc.u32 %2, %6, %7;\n\t"
        "addc.cc.u32 %3, %8, %9;\n\t"
        "addc.cc.u32 %4, %10, %11;\n\t"
        "addc.cc.u32 %5, %12, %13;\n\t"
        "addc.u32 %1, %1, %1;"
        : "+r"(*in), "+r"(*out), "=&r"(sum[0]), "=&r"(sum[1 % K]), "=&r"(sum[2 % K]),
          "=&r"(sum[3 % K])
        : "r"(v[0]), "r"(x[0]), "r"(v[1 % K]), "r"(x[1 % K]), "r"(v[2 % K]), "r"(x[2 % K]),
          "r"(v[3 % K]), "r"(x[3 % K]));
}
