// Device functions shared by the kernels that process the rows of a channels-last activation.
//
// x is a bfloat16 matrix of rows (board cells) and channels. The number of channels is a multiple of eight; eight
// channels are a vector of 16 bytes. A block handles a slice of at most eight vectors (blockIdx.x of gridDim.x) and
// a strided subset of the rows (blockIdx.y of gridDim.y); a thread handles the same eight channels of all its rows.
// A reduction over rows has two stages: each block writes a partial sum, and the last block of each slice to finish
// adds the partial sums in a fixed order. The last block is determined by a counter (ticket), which it resets to zero.
//
// REDUCE_THREADS and ELEMENTWISE_THREADS are the threads per block of reducing and of elementwise kernels. They are
// defined at compilation.

struct Float8 {
  float at[8];
};

// The vector and the rows of a thread.
struct ThreadRows {
  int vectors; // vectors per row
  int vector;  // index of the thread's vector in the row
  int width;   // vectors of the slice
  int height;  // rows that the block handles at a time
  int row;     // the thread's row among these
  int first;   // first row of the thread
  int step;    // stride between its rows
  int count;   // number of its rows, possibly 0
};

__device__ ThreadRows thread_rows(int threads, int rows, int vectors, int slice_width) {
  ThreadRows my;
  const int from = blockIdx.x * slice_width, thread = threadIdx.x;
  my.vectors = vectors;
  my.width = vectors - from < slice_width ? vectors - from : slice_width;
  my.height = threads / my.width;
  my.row = thread / my.width;
  my.vector = from + thread % my.width;
  my.first = blockIdx.y * my.height + my.row;
  my.step = gridDim.y * my.height;
  if (my.row >= my.height)
    my.first = rows;
  my.count = my.first < rows ? (rows - 1 - my.first) / my.step + 1 : 0;
  return my;
}

__device__ Float8 unpack(uint4 pairs) {
  const unsigned words[4] = {pairs.x, pairs.y, pairs.z, pairs.w};
  Float8 values;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    values.at[2 * i] = __uint_as_float(words[i] << 16);
    values.at[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
  }
  return values;
}

// Packs two floats as bfloat16, rounded to nearest, ties to even.
__device__ unsigned pack_bf16x2(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
#else
  const float of[2] = {low, high};
  unsigned both = 0;
  for (int i = 0; i < 2; i++) {
    const unsigned bits = __float_as_uint(of[i]);
    const unsigned half = of[i] == of[i] ? (bits + 0x7fffu + (bits >> 16 & 1)) >> 16 : 0x7fffu;
    both |= half << 16 * i;
  }
  return both;
#endif
}

__device__ uint4 pack(const Float8 &values) {
  const float *at = values.at;
  return make_uint4(pack_bf16x2(at[0], at[1]), pack_bf16x2(at[2], at[3]), pack_bf16x2(at[4], at[5]), pack_bf16x2(at[6], at[7]));
}

// Loads the values of the thread's eight channels from a row of `numbers`.
__device__ Float8 load_channels(const float *numbers, int row, const ThreadRows &my) {
  const float4 *at = (const float4 *)(numbers + 8 * (row * my.vectors + my.vector));
  const float4 low = at[0], high = at[1];
  return {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
}

// Returns whether this is the last block of its slice to finish; if so, the writes of the other blocks are visible.
__device__ bool is_last_block(unsigned *ticket) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    last = atomicAdd(ticket, 1u) + 1 == gridDim.y;
  __syncthreads();
  __threadfence();
  if (last && threadIdx.x == 0)
    *ticket = 0;
  return last;
}

// A vector of x and the corresponding one of dy.
struct XAndGradient {
  uint4 x, dy;
};

// Calls `work` for each row of the thread, starting at offset `at`, with `AHEAD` rows prefetched.
template <int AHEAD, typename Load, typename Work>
__device__ void for_each_row(int count, int at, int step, Load load, Work work) {
  for (int left = count; left > 0; left -= AHEAD, at += AHEAD * step) {
    decltype(load(at)) loaded[AHEAD];
#pragma unroll
    for (int j = 0; j < AHEAD; j++)
      if (j < left)
        loaded[j] = load(at + j * step);
#pragma unroll
    for (int j = 0; j < AHEAD; j++) {
      if (j >= left)
        break;
      work(at + j * step, loaded[j]);
    }
  }
}

// Tree reduction over the threads of each vector by `merge`, which receives the row of the other thread; then
// writes the partial result of the block.
template <typename Merge>
__device__ void reduce_block(const ThreadRows &my, Float8 &one, Float8 &two, float2 *partials, Merge merge) {
  __shared__ float gathered[16 * REDUCE_THREADS];
  const int thread = threadIdx.x;
  auto store = [&] {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      gathered[i * REDUCE_THREADS + thread] = one.at[i];
      gathered[(8 + i) * REDUCE_THREADS + thread] = two.at[i];
    }
  };
  store();
  for (int left = my.height; left > 1;) {
    __syncthreads();
    const int half = (left + 1) / 2;
    if (my.row + half < left) {
      const int other = thread + half * my.width;
      Float8 first, second;
#pragma unroll
      for (int i = 0; i < 8; i++) {
        first.at[i] = gathered[i * REDUCE_THREADS + other];
        second.at[i] = gathered[(8 + i) * REDUCE_THREADS + other];
      }
      merge(my.row + half, first, second);
      store();
    }
    left = half;
  }
  if (my.row == 0) {
    float2 *partial = partials + 8 * (blockIdx.y * my.vectors + my.vector);
#pragma unroll
    for (int i = 0; i < 8; i++)
      partial[i] = make_float2(one.at[i], two.at[i]);
  }
}

// Work division of the final reduction: a thread has one channel of the slice and a strided subset of the blocks.
struct FinalReduction {
  int channel;        // channel of the thread
  int channels;       // channels of the activation
  int slice_channels; // channels of the slice
  int group;          // first block of the thread
  int groups;         // stride between its blocks
};

__device__ FinalReduction final_reduction(const ThreadRows &my, int slice_width) {
  FinalReduction end;
  end.slice_channels = 8 * my.width;
  end.groups = REDUCE_THREADS / end.slice_channels;
  end.group = threadIdx.x / end.slice_channels;
  end.channel = 8 * blockIdx.x * slice_width + threadIdx.x % end.slice_channels;
  end.channels = 8 * my.vectors;
  return end;
}

// Calls `work` for the partial results of the thread's blocks, eight prefetched at a time.
template <typename Work>
__device__ void for_each_partial(const float2 *partials, const FinalReduction &end, Work work) {
  const int blocks = end.group < end.groups ? gridDim.y : 0, step = end.groups;
  for (int block = end.group; block < blocks; block += 8 * step) {
    float2 loaded[8];
#pragma unroll
    for (int j = 0; j < 8; j++)
      if (block + j * step < blocks)
        loaded[j] = partials[(block + j * step) * end.channels + end.channel];
#pragma unroll
    for (int j = 0; j < 8; j++)
      if (block + j * step < blocks)
        work(block + j * step, loaded[j]);
  }
}

// Sums two values over all threads of a channel; the result is complete in group 0.
__device__ void reduce_groups(double &one, double &two, const FinalReduction &end) {
  __shared__ double sums[2 * REDUCE_THREADS];
  const int thread = threadIdx.x;
  sums[thread] = one;
  sums[REDUCE_THREADS + thread] = two;
  for (int left = end.groups; left > 1;) {
    __syncthreads();
    const int half = (left + 1) / 2;
    if (end.group + half < left) {
      sums[thread] = one += sums[thread + half * end.slice_channels];
      sums[REDUCE_THREADS + thread] = two += sums[REDUCE_THREADS + thread + half * end.slice_channels];
    }
    left = half;
  }
}
