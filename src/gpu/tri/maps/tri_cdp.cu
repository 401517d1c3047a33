/* The map cdp: the kernel of a square launches the kernels of the two triangles beside it.
 * Children are fired and forgotten; the parent's grid is complete when they are, so the stream
 * waits for all of them. Without an output (NULL) they launch and store nothing. Compiled with
 * relocatable device code, alone in its library. */
#include "tri_map.cuh"

/** A triangle small enough: bounding box. */
template <int F, class R>
static __global__ void __launch_bounds__(1024)
    cdp_leaf(tri_args<R> args, tri_target t, tri_node node, R *out) {
  if (out == NULL) return;
  tri_map_rows([&](int ty) {
    tri_cell cell = tri_map_bb(blockIdx.x, blockIdx.y, threadIdx.x, ty, blockDim.x, node.size);
    if (cell.r < 0) return;
    cell.r += node.at;
    cell.c += node.at;
    tri_store_cell<F>(args, t, cell, out);
  });
}

template <int F, class R>
static __global__ void cdp_square(tri_args<R> args, tri_target t, tri_node node, int leaf, R *out,
                                  int *flag);

/** Grid of a node: its square, or all of a leaf. */
static __host__ __device__ __forceinline__ dim3 cdp_grid(tri_node node, int leaf, int side) {
  const int half = tri_node_half(node, side), tiles = (node.size + side - 1) / side;
  if (node.size <= leaf) return dim3((unsigned)tiles, (unsigned)tiles);
  return dim3((unsigned)(half / side), (unsigned)((node.size - half + side - 1) / side));
}

template <int F, class R>
static __device__ __forceinline__ void cdp_child(const tri_args<R> &args, const tri_target &t,
                                                 tri_node node, int leaf, R *out, int *flag) {
#if defined(__CUDA_ARCH__)
  const dim3 grid = cdp_grid(node, leaf, blockDim.x);
  if (node.size <= 0) return;
  if (node.size <= leaf)
    cdp_leaf<F, R><<<grid, blockDim, 0, cudaStreamFireAndForget>>>(args, t, node, out);
  else
    cdp_square<F, R>
        <<<grid, blockDim, 0, cudaStreamFireAndForget>>>(args, t, node, leaf, out, flag);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) atomicExch(flag, (int)status);
#else
  (void)args, (void)t, (void)node, (void)leaf, (void)out, (void)flag;
#endif
}

template <int F, class R>
static __global__ void __launch_bounds__(1024)
    cdp_square(tri_args<R> args, tri_target t, tri_node node, int leaf, R *out, int *flag) {
  const int side = blockDim.x;
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0) {
    const int half = tri_node_half(node, side);
    tri_node upper, lower;
    upper.at = node.at;
    upper.size = half;
    lower.at = node.at + half;
    lower.size = node.size - half;
    cdp_child<F, R>(args, t, upper, leaf, out, flag);
    cdp_child<F, R>(args, t, lower, leaf, out, flag);
  }
  if (out == NULL) return;
  tri_map_rows([&](int ty) {
    tri_store_cell<F>(args, t, tri_map_square(node, blockIdx.x, blockIdx.y, threadIdx.x, ty, side),
                      out);
  });
}

template <int F, class R>
static tsl_err tri_cdp_launch(const tri_gpu *w, const tri_target *t, R *out, int *flag) {
  tsl_err err = TSL_OK;
  const tri_args<R> args = tri_args_of<R>(w);
  const int side = w->p.block;
  const int leaf = tri_cdp_leaf(t->m, w->p.cdp_cutoff > 0 ? w->p.cdp_cutoff : (int)TRI_CDP_CUTOFF,
                                w->p.cdp_depth > 0 ? w->p.cdp_depth : 1);
  const dim3 block = tri_map_block(&w->p);
  tri_node root;
  root.at = 0;
  root.size = t->m;
  if (root.size <= leaf)
    TSL_LAUNCH((cdp_leaf<F, R>), cdp_grid(root, leaf, side), block, 0, w->stream, args, *t, root,
               out);
  else
    TSL_LAUNCH((cdp_square<F, R>), cdp_grid(root, leaf, side), block, 0, w->stream, args, *t, root,
               leaf, out, flag);
done:
  return err;
}

template <class R>
static tsl_err launch_of(const tri_gpu *w, const tri_target *t, R *out, int *flag) {
  switch (w->p.function) {
#define X(NAME, ...) \
  case TRI_##NAME:   \
    return tri_cdp_launch<tri_same<TRI_##NAME>::value, R>(w, t, out, flag);
    TRI_DIRECT_LIST(X)
#undef X
  default:
    return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "no kernel for function %d",
                    w->p.function);
  }
}

tsl_err tri_cdp_run(const tri_gpu *w, const tri_slab *slab, void *out, int *flag) {
  tsl_err err = TSL_OK;
  const tri_target t = tri_target_of(&w->p, slab);
  if (t.m <= 0) return TSL_OK;
  if (w->p.type == TSL_F64)
    TSL_TRY(launch_of(w, &t, (double *)out, flag));
  else
    TSL_TRY(launch_of(w, &t, (float *)out, flag));
done:
  return err;
}

tsl_err tri_cdp_check(const tri_gpu *w, const int *flag) {
  tsl_err err = TSL_OK;
  int status = 0;
  TSL_TRY(tsl_gpu_copy(w, &status, flag, sizeof status));
  if (status != 0)
    TSL_FAIL(TSL_ERR_DEVICE, "card %s: map cdp: a launch from the card failed: %s", tsl_gpu_card(),
             cudaGetErrorString((cudaError_t)status));
done:
  return err;
}
