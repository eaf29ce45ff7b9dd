// Batch normalisation and the rectifier after it, y = max(0, scale (x - mean) / deviation + shift), as two
// passes over x, and as two passes over x and dy for its gradient. rows.cu comes before this.
//
// Sums run from the last row to the first, and what is written from the first to the last, since each
// finds in the cache what was touched last before.

// The rows of `terms`.
enum { MEAN, SLOPE, SHIFT, INVERSE };

// What the rectifier is given: the same to the last bit in both directions.
__device__ float before(float from_mean, float slope, float shift) {
  return __fmaf_rn(from_mean, slope, shift);
}

// Means and variances. A thread takes sums of distances from its own first number, of which the mean is
// never far: their squares then exceed the variance at most as often as it has numbers. Threads are put
// together by their means and their squared distances from them, all means as distances from the first
// row.
extern "C" __global__ void __launch_bounds__(SUMMING, 2)
    statistics(const uint4 *x, int rows, int vectors, int wide, const float *scale,
               const float *shift, float *running_mean, float *running_variance, float follow,
               float epsilon, float2 *parts, unsigned *tickets, float *terms) {
  __shared__ int counts[SUMMING];
  const Share my = share_of(SUMMING, rows, vectors, wide);
  Eight mean = {}, squares = {};
  int count = my.count;
  if (count > 0) {
    const int from = (rows - 1 - my.first) * vectors + my.vector;
    Eight first;
    for_each_row<4>(
        count, from, -my.step * vectors, [&](int at) { return x[at]; },
        [&](int at, uint4 loaded) {
          const Eight now = unpacked(loaded);
          if (at == from)
            first = now;
#pragma unroll
          for (int i = 0; i < 8; i++) {
            const float away = now.at[i] - first.at[i];
            mean.at[i] += away;
            squares.at[i] = __fmaf_rn(away, away, squares.at[i]);
          }
        });
    const Eight origin = unpacked(x[my.vector]);
    const float share = 1.0f / count;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const float sum = mean.at[i], off = sum * share;
      const float rest = __fmaf_rn(-sum, off, squares.at[i]);
      mean.at[i] = first.at[i] - origin.at[i] + off;
      squares.at[i] = rest < 0 ? 0 : rest;
    }
  }
  if (my.row < my.high && threadIdx.x % my.width == 0)
    counts[my.row] = count;
  put_together(my, mean, squares, parts, [&](int row, const Eight &means, const Eight &more) {
    const int theirs = counts[row];
    if (theirs == 0)
      return;
    const float share = (float)theirs / (count + theirs);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const float away = means.at[i] - mean.at[i];
      mean.at[i] = __fmaf_rn(away, share, mean.at[i]);
      squares.at[i] += more.at[i] + away * away * (count * share);
    }
    count += theirs;
    if (threadIdx.x % my.width == 0)
      counts[my.row] = count;
  });
  if (!is_last(tickets + blockIdx.x))
    return;

  const Ending end = ending_of(my, wide);
  const int channel = end.channel, channels = end.channels;
  // How many rows each block has had: the last of the turns may be cut short.
  const int blocks = gridDim.y, turns = (rows - 1) / my.high + 1;
  const int full = turns / blocks, more = turns % blocks, cut = (turns - 1) % blocks;
  double sum = 0, square = 0;
  for_each_part(parts, end, [&](int block, float2 part) {
    int many = (full + (block < more)) * my.high;
    if (block == cut)
      many -= turns * my.high - rows;
    sum += (double)many * part.x;
    square += part.y + (double)many * part.x * part.x;
  });
  sum_up(sum, square, end);
  if (end.group != 0)
    return;
  const double off = sum / rows;
  double variance = square / rows - off * off;
  variance = variance < 0 ? 0 : variance;
  const unsigned short origin = ((const unsigned short *)x)[channel];
  const float middle = (float)(__uint_as_float((unsigned)origin << 16) + off);
  const float inverse = (float)(1.0 / sqrt(variance + epsilon));
  terms[MEAN * channels + channel] = middle;
  terms[SLOPE * channels + channel] = scale[channel] * inverse;
  terms[SHIFT * channels + channel] = shift[channel];
  terms[INVERSE * channels + channel] = inverse;
  const float unbiased = (float)(variance * rows / (rows - 1));
  running_mean[channel] += follow * (middle - running_mean[channel]);
  running_variance[channel] += follow * (unbiased - running_variance[channel]);
}

// What comes out.
extern "C" __global__ void __launch_bounds__(WRITING, 4)
    rectified(const uint4 *x, uint4 *y, int rows, int vectors, int wide, const float *terms) {
  const Share my = share_of(WRITING, rows, vectors, wide);
  if (my.count == 0)
    return;
  const Eight mean = eight_of(terms, MEAN, my), slope = eight_of(terms, SLOPE, my);
  const Eight shift = eight_of(terms, SHIFT, my);
  for_each_row<4>(
      my.count, my.first * vectors + my.vector, my.step * vectors, [&](int at) { return x[at]; },
      [&](int at, uint4 loaded) {
        Eight now = unpacked(loaded);
#pragma unroll
        for (int i = 0; i < 8; i++) {
          const float value = before(now.at[i] - mean.at[i], slope.at[i], shift.at[i]);
          // What is not a number stays so.
          now.at[i] = value <= 0 ? 0 : value;
        }
        y[at] = packed(now);
      });
}

// The gradients of scale and shift, and what the next pass needs: `means` has the mean of the gradient that
// passes the rectifier, and that of its product with the distance from the mean, over the variance; both
// times the slope.
extern "C" __global__ void __launch_bounds__(SUMMING, 2)
    gradients(const uint4 *x, const uint4 *dy, int rows, int vectors, int wide, const float *terms,
              float2 *parts, unsigned *tickets, float *dscale, float *dshift, float *means) {
  const Share my = share_of(SUMMING, rows, vectors, wide);
  Eight sum = {}, product = {};
  if (my.count > 0) {
    const Eight mean = eight_of(terms, MEAN, my), slope = eight_of(terms, SLOPE, my);
    const Eight shift = eight_of(terms, SHIFT, my);
    for_each_row<2>(
        my.count, (rows - 1 - my.first) * vectors + my.vector, -my.step * vectors,
        [&](int at) { return Two{x[at], dy[at]}; },
        [&](int, Two loaded) {
          const Eight now = unpacked(loaded.x), wanted = unpacked(loaded.dy);
#pragma unroll
          for (int i = 0; i < 8; i++) {
            const float away = now.at[i] - mean.at[i];
            const float passed = before(away, slope.at[i], shift.at[i]) <= 0 ? 0 : wanted.at[i];
            sum.at[i] += passed;
            product.at[i] = __fmaf_rn(passed, away, product.at[i]);
          }
        });
  }
  put_together(my, sum, product, parts, [&](int, const Eight &sums, const Eight &more) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      sum.at[i] += sums.at[i];
      product.at[i] += more.at[i];
    }
  });
  if (!is_last(tickets + blockIdx.x))
    return;

  const Ending end = ending_of(my, wide);
  const int channel = end.channel, channels = end.channels;
  double all = 0, products = 0;
  for_each_part(parts, end, [&](int, float2 part) {
    all += part.x;
    products += part.y;
  });
  sum_up(all, products, end);
  if (end.group != 0)
    return;
  const double inverse = terms[INVERSE * channels + channel];
  const double slope = terms[SLOPE * channels + channel];
  dshift[channel] = (float)all;
  dscale[channel] = (float)(products * inverse);
  means[channel] = (float)(slope * all / rows);
  means[channels + channel] = (float)(slope * products * inverse * inverse / rows);
}

// The gradient of x.
extern "C" __global__ void __launch_bounds__(WRITING, 3)
    passed_on(const uint4 *x, const uint4 *dy, uint4 *dx, int rows, int vectors, int wide,
              const float *terms, const float *means) {
  const Share my = share_of(WRITING, rows, vectors, wide);
  if (my.count == 0)
    return;
  const Eight mean = eight_of(terms, MEAN, my), slope = eight_of(terms, SLOPE, my);
  const Eight shift = eight_of(terms, SHIFT, my);
  const Eight middle = eight_of(means, 0, my), tilt = eight_of(means, 1, my);
  for_each_row<2>(
      my.count, my.first * vectors + my.vector, my.step * vectors,
      [&](int at) { return Two{x[at], dy[at]}; },
      [&](int at, Two loaded) {
        const Eight now = unpacked(loaded.x);
        Eight wanted = unpacked(loaded.dy);
#pragma unroll
        for (int i = 0; i < 8; i++) {
          const float away = now.at[i] - mean.at[i];
          const float passed = before(away, slope.at[i], shift.at[i]) <= 0 ? 0 : wanted.at[i];
          const float rest = __fmaf_rn(away, tilt.at[i], middle.at[i]);
          wanted.at[i] = __fmaf_rn(passed, slope.at[i], -rest);
        }
        dx[at] = packed(wanted);
      });
}
