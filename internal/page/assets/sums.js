// What the portions of a side got in a span, and what that makes of the nodes.

const wide = 2 ** 26; // weights are kept as hi*wide + lo, so that sums stay exact
const Ending = 0, Idle = 1, Whole = 2; // the kinds of portions

// sumUp adds up what each portion got in the slices [from, to).
function sumUp(side, clock, from, to) {
  const n = side.node.length;
  const s = {hits: new Float64Array(n), hi: new Float64Array(n), lo: new Float64Array(n)};
  const {portion, first, last, num} = side.spells;
  for (let i = 0; i < portion.length; i++) {
    const a = Math.max(first[i], from), z = Math.min(last[i] + 1, to);
    if (a >= z) continue;
    const p = portion[i], weight = clock.weight[z] - clock.weight[a], high = Math.floor(weight / wide);
    s.hits[p] += num[i] * (clock.samples[z] - clock.samples[a]);
    s.hi[p] += num[i] * high;
    s.lo[p] += num[i] * (weight - high * wide);
    if (s.lo[p] > 2 ** 50) carry(s, p);
  }
  const sums = side.sums;
  for (let i = 0; i < sums.portion.length; i++) {
    if (sums.first[i] < from || sums.first[i] >= to) continue;
    const p = sums.portion[i];
    s.hits[p] += sums.hits[i];
    s.hi[p] += sums.hi[i];
    s.lo[p] += sums.lo[i];
  }
  for (let p = 0; p < n; p++) carry(s, p);
  return s;
}

function carry(s, p) {
  const over = Math.floor(s.lo[p] / wide);
  s.hi[p] += over;
  s.lo[p] -= over * wide;
}

// weigh returns, by node, the weight of the stacks that end there (own) and of all stacks through it (cum), approximately.
function weigh(tree, side, sums) {
  const own = new Float64Array(tree.nodes);
  for (let p = 0; p < side.node.length; p++) {
    if (side.kind[p] === Ending) own[side.node[p]] += (sums.hi[p] * wide + sums.lo[p]) / side.parts[p];
  }
  const cum = own.slice();
  for (let n = tree.nodes - 1; n > 0; n--) cum[tree.parent[n]] += cum[n];
  return {own, cum};
}

// firstPortion returns the first portion of a node or of one after it.
function firstPortion(side, node) {
  let a = 0, z = side.node.length;
  while (a < z) {
    const m = (a + z) >> 1;
    if (side.node[m] < node) a = m + 1; else z = m;
  }
  return a;
}

// exactly adds up portions of some kind whose nodes are in some ranges [from, to): the weight and the hits, exact.
function exactly(side, sums, ranges, kind = Ending) {
  const n = side.denominators.length;
  const hits = new Float64Array(n), hi = new Float64Array(n), lo = new Float64Array(n);
  for (const [from, to] of ranges) {
    for (let p = firstPortion(side, from); p < side.node.length && side.node[p] < to; p++) {
      if (side.kind[p] !== kind) continue;
      const d = side.denominator[p];
      hits[d] += sums.hits[p];
      hi[d] += sums.hi[p];
      lo[d] += sums.lo[p];
    }
  }
  let weight = new Fraction(0n), counted = new Fraction(0n);
  for (let d = 0; d < n; d++) {
    if (!hits[d] && !hi[d] && !lo[d]) continue;
    const parts = BigInt(side.denominators[d]);
    weight = weight.plus(new Fraction(BigInt(hi[d]) * BigInt(wide) + BigInt(lo[d]), parts));
    counted = counted.plus(new Fraction(BigInt(hits[d]), parts));
  }
  return {weight, hits: counted};
}

// presence returns how many goroutines each slice has in some portions, on average over its samples.
function presence(side, clock, wanted) {
  const change = new Float64Array(clock.slices + 1);
  const {portion, first, last, num} = side.spells;
  for (let i = 0; i < portion.length; i++) {
    const p = portion[i];
    if (!wanted[p]) continue;
    const n = num[i] / side.parts[p];
    change[first[i]] += n;
    change[last[i] + 1] -= n;
  }
  const out = new Float64Array(clock.slices);
  for (let i = 0, now = 0; i < clock.slices; i++) out[i] = now += change[i];
  const sums = side.sums;
  for (let i = 0; i < sums.portion.length; i++) {
    const p = sums.portion[i], slice = sums.first[i];
    if (wanted[p]) out[slice] += sums.hits[i] / side.parts[p] / (clock.samples[slice + 1] - clock.samples[slice]);
  }
  for (let i = 0; i < out.length; i++) if (out[i] < 1e-9) out[i] = 0;
  return out;
}
