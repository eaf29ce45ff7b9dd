// Fused batch normalization and ReLU, y = max(0, scale (x - mean) / deviation + shift): reads x twice, and
// x and dy twice for the gradient. Compiled after channel_rows.cu.
//
// Reductions run from the last row to the first and elementwise kernels from the first to the last, so that each
// starts with the rows that are still in the cache.

// The rows of `coefficients`.
enum { MEAN, SLOPE, SHIFT, INVERSE };

// Returns the input of the ReLU, bit-identical in the forward and backward pass.
__device__ float relu_input(float from_mean, float slope, float shift) {
  return __fmaf_rn(from_mean, slope, shift);
}

// Computes means and variances. A thread sums deviations from its first value, which avoids cancellation: the
// squares exceed the variance by at most a factor of the number of values. Results of threads are merged as means
// and sums of squared deviations (Chan et al.), with all means relative to the first row.
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 2)
    statistics(const uint4 *x, int rows, int vectors, int slice_width, const float *scale,
               const float *shift, float *running_mean, float *running_variance, float momentum,
               float epsilon, float2 *partials, unsigned *tickets, float *coefficients) {
  __shared__ int counts[REDUCE_THREADS];
  const ThreadRows my = thread_rows(REDUCE_THREADS, rows, vectors, slice_width);
  Float8 mean = {}, squares = {};
  int count = my.count;
  if (count > 0) {
    const int from = (rows - 1 - my.first) * vectors + my.vector;
    Float8 first;
    for_each_row<4>(
        count, from, -my.step * vectors, [&](int at) { return x[at]; },
        [&](int at, uint4 loaded) {
          const Float8 now = unpack(loaded);
          if (at == from)
            first = now;
#pragma unroll
          for (int i = 0; i < 8; i++) {
            const float deviation = now.at[i] - first.at[i];
            mean.at[i] += deviation;
            squares.at[i] = __fmaf_rn(deviation, deviation, squares.at[i]);
          }
        });
    const Float8 origin = unpack(x[my.vector]);
    const float share = 1.0f / count;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const float sum = mean.at[i], off = sum * share;
      const float rest = __fmaf_rn(-sum, off, squares.at[i]);
      mean.at[i] = first.at[i] - origin.at[i] + off;
      squares.at[i] = rest < 0 ? 0 : rest;
    }
  }
  if (my.row < my.height && threadIdx.x % my.width == 0)
    counts[my.row] = count;
  reduce_block(my, mean, squares, partials, [&](int row, const Float8 &means, const Float8 &more) {
    const int theirs = counts[row];
    if (theirs == 0)
      return;
    const float share = (float)theirs / (count + theirs);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const float deviation = means.at[i] - mean.at[i];
      mean.at[i] = __fmaf_rn(deviation, share, mean.at[i]);
      squares.at[i] += more.at[i] + deviation * deviation * (count * share);
    }
    count += theirs;
    if (threadIdx.x % my.width == 0)
      counts[my.row] = count;
  });
  if (!is_last_block(tickets + blockIdx.x))
    return;

  const FinalReduction end = final_reduction(my, slice_width);
  const int channel = end.channel, channels = end.channels;
  // Number of rows of each block; the last round may be incomplete.
  const int blocks = gridDim.y, rounds = (rows - 1) / my.height + 1;
  const int full = rounds / blocks, extra = rounds % blocks, incomplete = (rounds - 1) % blocks;
  double sum = 0, square = 0;
  for_each_partial(partials, end, [&](int block, float2 partial) {
    int block_rows = (full + (block < extra)) * my.height;
    if (block == incomplete)
      block_rows -= rounds * my.height - rows;
    sum += (double)block_rows * partial.x;
    square += partial.y + (double)block_rows * partial.x * partial.x;
  });
  reduce_groups(sum, square, end);
  if (end.group != 0)
    return;
  const double off = sum / rows;
  double variance = square / rows - off * off;
  variance = variance < 0 ? 0 : variance;
  const unsigned short origin = ((const unsigned short *)x)[channel];
  const float batch_mean = (float)(__uint_as_float((unsigned)origin << 16) + off);
  const float inverse = (float)(1.0 / sqrt(variance + epsilon));
  coefficients[MEAN * channels + channel] = batch_mean;
  coefficients[SLOPE * channels + channel] = scale[channel] * inverse;
  coefficients[SHIFT * channels + channel] = shift[channel];
  coefficients[INVERSE * channels + channel] = inverse;
  const float unbiased = (float)(variance * rows / (rows - 1));
  running_mean[channel] += momentum * (batch_mean - running_mean[channel]);
  running_variance[channel] += momentum * (unbiased - running_variance[channel]);
}

// Computes the output y.
extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS, 4)
    normalize_relu(const uint4 *x, uint4 *y, int rows, int vectors, int slice_width,
                   const float *coefficients) {
  const ThreadRows my = thread_rows(ELEMENTWISE_THREADS, rows, vectors, slice_width);
  if (my.count == 0)
    return;
  const Float8 mean = load_channels(coefficients, MEAN, my), slope = load_channels(coefficients, SLOPE, my);
  const Float8 shift = load_channels(coefficients, SHIFT, my);
  for_each_row<4>(
      my.count, my.first * vectors + my.vector, my.step * vectors, [&](int at) { return x[at]; },
      [&](int at, uint4 loaded) {
        Float8 now = unpack(loaded);
#pragma unroll
        for (int i = 0; i < 8; i++) {
          const float value = relu_input(now.at[i] - mean.at[i], slope.at[i], shift.at[i]);
          // NaN is preserved.
          now.at[i] = value <= 0 ? 0 : value;
        }
        y[at] = pack(now);
      });
}

// Computes the gradients of scale and shift, and two coefficients per channel for `input_gradient`: `means` has the
// mean of the gradient after the ReLU, and the mean of its product with the deviation divided by the variance, both
// multiplied by the slope.
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 2)
    reduce_gradients(const uint4 *x, const uint4 *dy, int rows, int vectors, int slice_width,
                     const float *coefficients, float2 *partials, unsigned *tickets, float *dscale,
                     float *dshift, float *means) {
  const ThreadRows my = thread_rows(REDUCE_THREADS, rows, vectors, slice_width);
  Float8 sum = {}, product = {};
  if (my.count > 0) {
    const Float8 mean = load_channels(coefficients, MEAN, my), slope = load_channels(coefficients, SLOPE, my);
    const Float8 shift = load_channels(coefficients, SHIFT, my);
    for_each_row<2>(
        my.count, (rows - 1 - my.first) * vectors + my.vector, -my.step * vectors,
        [&](int at) { return XAndGradient{x[at], dy[at]}; },
        [&](int, XAndGradient loaded) {
          const Float8 now = unpack(loaded.x), gradient = unpack(loaded.dy);
#pragma unroll
          for (int i = 0; i < 8; i++) {
            const float deviation = now.at[i] - mean.at[i];
            const float masked = relu_input(deviation, slope.at[i], shift.at[i]) <= 0 ? 0 : gradient.at[i];
            sum.at[i] += masked;
            product.at[i] = __fmaf_rn(masked, deviation, product.at[i]);
          }
        });
  }
  reduce_block(my, sum, product, partials, [&](int, const Float8 &sums, const Float8 &more) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      sum.at[i] += sums.at[i];
      product.at[i] += more.at[i];
    }
  });
  if (!is_last_block(tickets + blockIdx.x))
    return;

  const FinalReduction end = final_reduction(my, slice_width);
  const int channel = end.channel, channels = end.channels;
  double all = 0, products = 0;
  for_each_partial(partials, end, [&](int, float2 partial) {
    all += partial.x;
    products += partial.y;
  });
  reduce_groups(all, products, end);
  if (end.group != 0)
    return;
  const double inverse = coefficients[INVERSE * channels + channel];
  const double slope = coefficients[SLOPE * channels + channel];
  dshift[channel] = (float)all;
  dscale[channel] = (float)(products * inverse);
  means[channel] = (float)(slope * all / rows);
  means[channels + channel] = (float)(slope * products * inverse * inverse / rows);
}

// Computes the gradient of x.
extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS, 3)
    input_gradient(const uint4 *x, const uint4 *dy, uint4 *dx, int rows, int vectors, int slice_width,
                   const float *coefficients, const float *means) {
  const ThreadRows my = thread_rows(ELEMENTWISE_THREADS, rows, vectors, slice_width);
  if (my.count == 0)
    return;
  const Float8 mean = load_channels(coefficients, MEAN, my), slope = load_channels(coefficients, SLOPE, my);
  const Float8 shift = load_channels(coefficients, SHIFT, my);
  const Float8 mean_term = load_channels(means, 0, my), variance_term = load_channels(means, 1, my);
  for_each_row<2>(
      my.count, my.first * vectors + my.vector, my.step * vectors,
      [&](int at) { return XAndGradient{x[at], dy[at]}; },
      [&](int at, XAndGradient loaded) {
        const Float8 now = unpack(loaded.x);
        Float8 gradient = unpack(loaded.dy);
#pragma unroll
        for (int i = 0; i < 8; i++) {
          const float deviation = now.at[i] - mean.at[i];
          const float masked = relu_input(deviation, slope.at[i], shift.at[i]) <= 0 ? 0 : gradient.at[i];
          const float rest = __fmaf_rn(deviation, variance_term.at[i], mean_term.at[i]);
          gradient.at[i] = __fmaf_rn(masked, slope.at[i], -rest);
        }
        dx[at] = pack(gradient);
      });
}
