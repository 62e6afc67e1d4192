// The data of the page, as encode.go packs them.

// unpack decompresses bytes and reads the header, the slices and the trees.
async function unpack(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const r = new Reader(bytes);
  const length = r.number();
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(r.at, r.at + length)));
  r.at += length;
  const clock = readClock(r, header.slices);
  const trees = header.trees.map((h) => readTree(r, h, header.frames));
  return {header, clock, trees};
}

// fromText decodes base64.
function fromText(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// A Reader reads varints.
class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  number() {
    const bytes = this.bytes;
    let b = bytes[this.at++];
    if (b < 128) return b;
    let n = b & 127, unit = 128;
    do {
      b = bytes[this.at++];
      n += (b & 127) * unit;
      unit *= 128;
    } while (b >= 128);
    return n;
  }
  signed() {
    const n = this.number();
    return n % 2 ? -(n + 1) / 2 : n / 2;
  }
  numbers(into) {
    for (let i = 0; i < into.length; i++) into[i] = this.number();
    return into;
  }
  signeds(into) {
    for (let i = 0; i < into.length; i++) into[i] = this.signed();
    return into;
  }
}

// readClock reads the slices: when each begins, and the samples and the weight before each.
function readClock(r, slices) {
  const at = r.numbers(new Float64Array(slices));
  const samples = new Float64Array(slices + 1), weight = new Float64Array(slices + 1);
  for (let i = 1; i < slices; i++) at[i] += at[i - 1];
  for (const sums of [samples, weight]) {
    for (let i = 0; i < slices; i++) sums[i + 1] = sums[i] + r.number();
  }
  return {slices, at, samples, weight};
}

// readTree reads the nodes of a tree in preorder, and what ends at them.
function readTree(r, h, frames) {
  const n = h.nodes;
  const t = {
    nodes: n, frames, fn: r.numbers(new Int32Array(n)), parent: new Int32Array(n), end: new Int32Array(n), depth: new Int32Array(n),
  };
  t.parent[0] = -1;
  for (let i = 1; i < n; i++) {
    let parent = i - 1;
    for (let up = r.number(); up > 0; up--) parent = t.parent[parent];
    t.parent[i] = parent;
    t.depth[i] = t.depth[parent] + 1;
  }
  t.end.fill(0);
  for (let i = n - 1; i >= 0; i--) {
    if (t.end[i] === 0) t.end[i] = i + 1;
    if (i > 0 && t.end[t.parent[i]] < t.end[i]) t.end[t.parent[i]] = t.end[i];
  }
  t.side = readSide(r, h.side);
  if (h.against) t.against = readSide(r, h.against);
  return t;
}

// readSide reads the portions of a side in the order of their nodes, and what they got: spells, and sums of slices.
function readSide(r, h) {
  const s = {node: r.numbers(new Int32Array(h.portions)), kind: r.numbers(new Uint8Array(h.portions)), parts: r.numbers(new Float64Array(h.portions))};
  for (let i = 1; i < h.portions; i++) s.node[i] += s.node[i - 1];
  s.spells = readColumn(r, h.portions, h.spells);
  s.spells.last = r.numbers(new Int32Array(h.spells));
  for (let i = 0; i < h.spells; i++) s.spells.last[i] += s.spells.first[i];
  s.spells.num = r.numbers(new Float64Array(h.spells));
  s.sums = readColumn(r, h.portions, h.sums);
  s.sums.hits = r.signeds(new Float64Array(h.sums));
  s.sums.hi = r.signeds(new Float64Array(h.sums));
  s.sums.lo = r.signeds(new Float64Array(h.sums));
  const denominators = [...new Set(s.parts)];
  s.denominators = denominators;
  const index = new Map(denominators.map((d, i) => [d, i]));
  s.denominator = Int32Array.from(s.parts, (d) => index.get(d)); // by portion: the index of its parts
  return s;
}

// readColumn reads the portion of each of some values, and the slice in which it begins.
function readColumn(r, portions, values) {
  const portion = new Int32Array(values), first = new Int32Array(values);
  for (let p = 0, i = 0; p < portions; p++) {
    for (let left = r.number(); left > 0; left--) portion[i++] = p;
  }
  r.numbers(first);
  for (let i = 1; i < values; i++) {
    if (portion[i] === portion[i - 1]) first[i] += first[i - 1];
  }
  return {portion, first};
}
