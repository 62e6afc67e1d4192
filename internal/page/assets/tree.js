// Views, and the trees that graphs draw: of a view's calls, or of the callers of one of its functions.

const typedNames = ['RUN', 'LOAD', 'PRIO', 'MONITOR', 'WAIT'];

// kindOf returns the kind of a frame, which depends only on its name.
function kindOf(name) {
  if (name === '*') return 'root';
  if (name.startsWith(':')) return 'typed';
  if (/^(go|label|class):/.test(name)) return 'class';
  return 'function';
}

// A Frames knows the kinds of all frames, by number.
class Frames {
  constructor(names) {
    this.names = names;
    this.kind = names.map(kindOf);
    this.typed = Int8Array.from(names, (name) => name.startsWith(':') ? typedNames.indexOf(name.slice(1)) : -1);
    this.packages = names.map((name, i) => this.kind[i] === 'function' ? packageOf(name) : '');
  }
}

// packageOf returns the import path in a Go symbol.
function packageOf(symbol) {
  const plain = symbol.split('[', 1)[0];
  const slash = plain.lastIndexOf('/') + 1;
  const dot = plain.indexOf('.', slash);
  return dot < 0 ? symbol : plain.slice(0, dot);
}

// A View is a tree, or the part of it below a node, over a span.
class View {
  constructor(page, index) {
    Object.assign(this, page.header.views[index]);
    this.page = page;
    this.tree = page.trees[this.tree];
    this.top = this.node;
    this.first = typedOf(this.tree, page.frames);
    this.all = weigh(this.tree, this.tree.side, page.sums(this.tree.side, 0, page.end)).cum; // decides the order of siblings
    if (this.tree.against) {
      this.otherSums = sumUp(this.tree.against, {slices: 1}, 0, 1);
      this.other = weigh(this.tree, this.tree.against, this.otherSums);
      this.otherWhole = this.exactWhole(this.tree.against, this.otherSums);
    }
  }

  // select sums up the slices [from, to).
  select(from, to) {
    this.from = from;
    this.to = to;
    this.sums = this.page.sums(this.tree.side, from, to);
    this.now = weigh(this.tree, this.tree.side, this.sums);
    this.whole = this.exactWhole(this.tree.side, this.sums);
  }

  // exactWhole returns what costs are fractions of.
  exactWhole(side, sums) {
    const own = exactly(side, sums, [[this.top, this.top + 1]], Whole);
    const has = side.kind.includes(Whole) && this.top === 0;
    return has ? own : exactly(side, sums, [[this.top, this.tree.end[this.top]]]);
  }

  // exact returns the weight, the hits and the cost of the stacks through nodes, none of which is below another one.
  exact(nodes) {
    const ranges = nodes.map((n) => [n, this.tree.end[n]]);
    const e = exactly(this.tree.side, this.sums, ranges);
    e.cost = e.weight.over(this.whole.weight);
    if (this.other) {
      e.other = exactly(this.tree.against, this.otherSums, ranges);
      e.other.cost = e.other.weight.over(this.otherWhole.weight);
    }
    return e;
  }

  // idle returns the waiting for work that the view lacks.
  idle() { return exactly(this.tree.side, this.sums, [[this.top, this.tree.end[this.top]]], Idle); }

  // typedParts returns the exact time of each typed time.
  typedParts() {
    const nodes = typedNames.map(() => []);
    for (let n = this.top; n < this.tree.end[this.top];) {
      const t = this.first.begins[n];
      if (t < 0) { n++; continue; }
      nodes[t].push(n);
      n = this.tree.end[n];
    }
    return nodes.map((list) => this.exact(list));
  }

  // find returns the node of a path of names below the view's top; undefined if there is none.
  find(path) {
    let at = this.top;
    for (const name of path) {
      let next;
      for (let c = at + 1; c < this.tree.end[at]; c = this.tree.end[c]) {
        if (this.tree.frames[this.tree.fn[c]] === name) next = c;
      }
      if (next === undefined) return undefined;
      at = next;
    }
    return at;
  }

  // path returns the names from below the view's top to a node.
  path(n) {
    const names = [];
    for (; n > this.top; n = this.tree.parent[n]) names.unshift(this.tree.frames[this.tree.fn[n]]);
    return names;
  }

  // findMark returns the node whose path has a mark; undefined if there is none.
  findMark(mark) {
    const {tree, top} = this, marks = new Array(tree.frames.length), sums = [new Float64Array(tree.nodes), new Float64Array(tree.nodes)];
    for (let n = top + 1; n < tree.end[top]; n++) {
      const parent = tree.parent[n], pair = marks[tree.fn[n]] ??= hashesOf(tree.frames[tree.fn[n]]);
      pair.forEach((h, i) => { sums[i][n] = joinHashes(sums[i][parent], h); });
      if (markOf(sums[0][n], sums[1][n]) === mark) return n;
    }
  }

  // outermost calls f with the nodes of the wanted frames that are below no other such node.
  outermost(wanted, f) {
    const {fn, end} = this.tree;
    for (let n = this.top; n < end[this.top];) {
      if (wanted(fn[n])) {
        f(n);
        n = end[n];
      } else n++;
    }
  }
}

// typedOf says, by node, which typed time begins there (begins) and which one the node is in (of); -1 if none. Below another
// goroutine's class, which holds a lock, the typed time is its own.
function typedOf(tree, frames) {
  if (tree.typed) return tree.typed;
  const begins = new Int8Array(tree.nodes).fill(-1), of = new Int8Array(tree.nodes).fill(-1);
  for (let n = 1; n < tree.nodes; n++) {
    const above = of[tree.parent[n]], typed = frames.typed[tree.fn[n]];
    if (typed >= 0) begins[n] = of[n] = typed;
    else if (frames.kind[tree.fn[n]] !== 'class') of[n] = above >= 0 && frames.kind[tree.fn[n]] === 'function' ? -1 : above;
  }
  return tree.typed = {begins, of};
}

// A CallGraph is what a graph draws of a view: its own tree.
class CallGraph {
  constructor(view) {
    this.view = view;
    this.tree = view.tree;
    this.top = view.top;
    this.order = view.all;
  }
  // refresh computes widths and the mixture of typed times by node, after the view has another span.
  refresh() {
    const {now, other, tree} = this.view;
    this.width = now.cum;
    if (other) {
      const a = 1 / (this.view.whole.weight.value || 1), b = 1 / (this.view.otherWhole.weight.value || 1);
      this.width = new Float64Array(tree.nodes);
      this.change = new Float64Array(tree.nodes);
      for (let n = 0; n < tree.nodes; n++) {
        this.width[n] = (now.cum[n] * a + other.cum[n] * b) / 2;
        this.change[n] = now.cum[n] * a - other.cum[n] * b;
      }
    }
    this.mixture = mixtureOf(tree, this.view.first, this.width);
  }
  nodes(n) { return [n]; } // those of the view whose stacks node n has
}

// mixtureOf returns, by node, the typed time that most of its weight is in; -1 if there is none.
function mixtureOf(tree, first, width) {
  const sums = typedNames.map(() => new Float32Array(tree.nodes));
  const most = new Int8Array(tree.nodes).fill(-1);
  for (let n = tree.nodes - 1; n >= 0; n--) {
    const begins = first.begins[n];
    let best = 0;
    for (let t = 0; t < sums.length; t++) {
      const w = begins >= 0 ? (t === begins ? width[n] : 0) : sums[t][n];
      if (w > best) {
        best = w;
        most[n] = t;
      }
      if (n > 0) sums[t][tree.parent[n]] += w;
    }
    if (most[n] < 0) most[n] = first.of[n];
  }
  return most;
}

// A CallerGraph is a tree of the callers of functions: below the top are those who call them, and so on. A stack with several calls
// of them counts once, by the outermost one.
class CallerGraph {
  constructor(view, wanted, title) {
    this.view = view;
    this.top = 0;
    this.title = title;
    const {fn, parent, frames} = view.tree;
    const children = [new Map()], of = [[]], up = [-1], name = [-1];
    view.outermost(wanted, (n) => {
      of[0].push(n);
      let at = 0;
      for (let m = parent[n]; m >= view.top && m >= 0; m = parent[m]) {
        let next = children[at].get(fn[m]);
        if (next === undefined) {
          next = of.length;
          children[at].set(fn[m], next);
          children.push(new Map());
          of.push([]);
          up.push(at);
          name.push(fn[m]);
        }
        of[next].push(n);
        at = next;
      }
    });
    this.number(children, of, up, name, frames);
  }

  // number lays the nodes out in preorder.
  number(children, of, up, name, frames) {
    const n = of.length;
    this.tree = {nodes: n, frames, fn: new Int32Array(n), parent: new Int32Array(n), end: new Int32Array(n), depth: new Int32Array(n)};
    this.of = new Array(n);
    const place = new Int32Array(n), stack = [0];
    for (let at = 0; stack.length;) {
      const i = stack.pop();
      place[i] = at;
      this.of[at] = of[i];
      this.tree.fn[at] = name[i];
      this.tree.parent[at] = up[i] < 0 ? -1 : place[up[i]];
      this.tree.depth[at] = up[i] < 0 ? 0 : this.tree.depth[place[up[i]]] + 1;
      this.tree.end[at] = at + 1;
      at++;
      for (const c of [...children[i].values()].reverse()) stack.push(c);
    }
    for (let i = n - 1; i > 0; i--) {
      const p = this.tree.parent[i];
      this.tree.end[p] = Math.max(this.tree.end[p], this.tree.end[i]);
    }
  }

  refresh() {
    const n = this.tree.nodes, call = new CallGraph(this.view);
    call.refresh();
    this.width = new Float64Array(n);
    this.order = new Float64Array(n);
    if (call.change) this.change = new Float64Array(n);
    this.mixture = new Int8Array(n).fill(-1);
    for (let i = 0; i < n; i++) {
      let most = 0;
      for (const m of this.of[i]) {
        this.width[i] += call.width[m];
        this.order[i] += this.view.all[m];
        if (call.change) this.change[i] += call.change[m];
        if (call.width[m] > most) {
          most = call.width[m];
          this.mixture[i] = call.mixture[m];
        }
      }
    }
  }
  nodes(n) { return this.of[n]; }
}

// pathMark returns a short text that stands for a path of names in a URL.
function pathMark(path) {
  const sums = path.map(hashesOf).reduce((sum, pair) => sum.map((s, i) => joinHashes(s, pair[i])), [0, 0]);
  return markOf(...sums);
}

function markOf(a, b) { return `${a.toString(36)}.${b.toString(36)}`; }
function hashesOf(name) { return [hashOf(name), hashOf(`${name}.`)]; }
function joinHashes(sum, h) { return (Math.imul(sum ^ h, 16777619) + (sum >>> 15)) >>> 0; }
