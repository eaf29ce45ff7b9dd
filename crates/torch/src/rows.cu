// What kernels over rows of maps have in common.
//
// x is a matrix of rows (cells of positions) and channels in bfloat16, channels innermost and a multiple
// of eight: a vector of 16 bytes. A block has a slice of at most eight vectors (blockIdx.x of gridDim.x) and
// every so many rows (blockIdx.y of gridDim.y); a thread stays with its eight channels. Sums over rows end
// thus: each block writes its part, and of each slice the block that is done last adds the parts up, always
// in the same order. It finds out that it is last by a ticket, which it leaves at zero again.
//
// SUMMING and WRITING, the threads of a block that sums and of one that writes, are given by whoever compiles
// this.

struct Eight {
  float at[8];
};

// Where a thread works.
struct Share {
  int vectors; // of a row
  int vector;  // of the row, the thread's own
  int width;   // vectors of the slice
  int high;    // rows of the block at a time
  int row;     // the thread's own among these
  int first;   // its first row of all
  int step;    // from there to the next
  int count;   // how many it has, perhaps none
};

__device__ Share share_of(int threads, int rows, int vectors, int wide) {
  Share my;
  const int from = blockIdx.x * wide, thread = threadIdx.x;
  my.vectors = vectors;
  my.width = vectors - from < wide ? vectors - from : wide;
  my.high = threads / my.width;
  my.row = thread / my.width;
  my.vector = from + thread % my.width;
  my.first = blockIdx.y * my.high + my.row;
  my.step = gridDim.y * my.high;
  if (my.row >= my.high)
    my.first = rows;
  my.count = my.first < rows ? (rows - 1 - my.first) / my.step + 1 : 0;
  return my;
}

__device__ Eight unpacked(uint4 pairs) {
  const unsigned words[4] = {pairs.x, pairs.y, pairs.z, pairs.w};
  Eight eight;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    eight.at[2 * i] = __uint_as_float(words[i] << 16);
    eight.at[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
  }
  return eight;
}

// Two numbers rounded to the nearest, ties to even.
__device__ unsigned pair(float low, float high) {
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

__device__ uint4 packed(const Eight &eight) {
  const float *at = eight.at;
  return make_uint4(pair(at[0], at[1]), pair(at[2], at[3]), pair(at[4], at[5]), pair(at[6], at[7]));
}

// One of the rows of numbers for each channel.
__device__ Eight eight_of(const float *numbers, int row, const Share &my) {
  const float4 *at = (const float4 *)(numbers + 8 * (row * my.vectors + my.vector));
  const float4 low = at[0], high = at[1];
  return {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
}

// Whether this block is the last of its slice; it then sees what the others wrote.
__device__ bool is_last(unsigned *ticket) {
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

// A vector of x, and with it one of dy.
struct Two {
  uint4 x, dy;
};

// Does a thread's rows from the place `at` on, `AHEAD` of them asked for before the first is used.
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

// Puts the threads of each vector together, two by two, by `merge`, which is told which row it hears of; the
// block's part is then written.
template <typename Merge>
__device__ void put_together(const Share &my, Eight &one, Eight &two, float2 *parts, Merge merge) {
  __shared__ float gathered[16 * SUMMING];
  const int thread = threadIdx.x;
  auto show = [&] {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      gathered[i * SUMMING + thread] = one.at[i];
      gathered[(8 + i) * SUMMING + thread] = two.at[i];
    }
  };
  show();
  for (int left = my.high; left > 1;) {
    __syncthreads();
    const int half = (left + 1) / 2;
    if (my.row + half < left) {
      const int other = thread + half * my.width;
      Eight first, second;
#pragma unroll
      for (int i = 0; i < 8; i++) {
        first.at[i] = gathered[i * SUMMING + other];
        second.at[i] = gathered[(8 + i) * SUMMING + other];
      }
      merge(my.row + half, first, second);
      show();
    }
    left = half;
  }
  if (my.row == 0) {
    float2 *part = parts + 8 * (blockIdx.y * my.vectors + my.vector);
#pragma unroll
    for (int i = 0; i < 8; i++)
      part[i] = make_float2(one.at[i], two.at[i]);
  }
}

// What the last block of a slice does: a thread has one of its channels, and every so many blocks.
struct Ending {
  int channel, channels, own, group, groups;
};

__device__ Ending ending_of(const Share &my, int wide) {
  Ending end;
  end.own = 8 * my.width;
  end.groups = SUMMING / end.own;
  end.group = threadIdx.x / end.own;
  end.channel = 8 * blockIdx.x * wide + threadIdx.x % end.own;
  end.channels = 8 * my.vectors;
  return end;
}

// Those blocks' parts, eight asked for at a time.
template <typename Work>
__device__ void for_each_part(const float2 *parts, const Ending &end, Work work) {
  const int blocks = end.group < end.groups ? gridDim.y : 0, step = end.groups;
  for (int block = end.group; block < blocks; block += 8 * step) {
    float2 loaded[8];
#pragma unroll
    for (int j = 0; j < 8; j++)
      if (block + j * step < blocks)
        loaded[j] = parts[(block + j * step) * end.channels + end.channel];
#pragma unroll
    for (int j = 0; j < 8; j++)
      if (block + j * step < blocks)
        work(block + j * step, loaded[j]);
  }
}

// The sums of two numbers over all threads of a channel, complete in the first group.
__device__ void sum_up(double &one, double &two, const Ending &end) {
  __shared__ double sums[2 * SUMMING];
  const int thread = threadIdx.x;
  sums[thread] = one;
  sums[SUMMING + thread] = two;
  for (int left = end.groups; left > 1;) {
    __syncthreads();
    const int half = (left + 1) / 2;
    if (end.group + half < left) {
      sums[thread] = one += sums[thread + half * end.own];
      sums[SUMMING + thread] = two += sums[SUMMING + thread + half * end.own];
    }
    left = half;
  }
}
