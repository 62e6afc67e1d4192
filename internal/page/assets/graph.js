// The flame graph: draws what is visible of a call graph, and no more.

const rowHeight = 19, thinnest = 0.4; // pixels

class Graph extends Picture {
  constructor(canvas, scroller, spacer, page) {
    super(canvas, page, scroller);
    Object.assign(this, {scroller, spacer, upwards: false, match: null});
    this.rows = []; // what is drawn, for finding what is at a point
    scroller.addEventListener('scroll', () => this.draw());
  }

  resized() { this.layout(); }

  // show shows another call graph, from its top.
  show(calls) {
    this.calls = calls;
    this.focus = this.selected = calls.top;
    this.ordered = new Map();
    this.refresh();
  }

  // refresh takes over that the graph's span has changed.
  refresh() {
    this.calls.refresh();
    this.greatest = 0;
    if (this.calls.change) for (let n = this.calls.top; n < this.calls.tree.end[this.calls.top]; n++) this.greatest = Math.max(this.greatest, Math.abs(this.calls.change[n]));
    this.layout();
  }

  // zoom makes a node as wide as the graph.
  zoom(n) {
    this.focus = this.selected = n;
    this.layout();
    this.reveal();
  }

  layout() {
    if (!this.calls) return;
    const {tree, width} = this.calls, least = width[this.focus] * thinnest / Math.max(1, this.scroller.clientWidth);
    let deepest = tree.depth[this.focus];
    for (let n = this.focus; n < tree.end[this.focus];) {
      if (n !== this.focus && !(width[n] > least)) { n = tree.end[n]; continue; }
      if (tree.depth[n] > deepest) deepest = tree.depth[n];
      n++;
    }
    this.levels = deepest - tree.depth[this.calls.top] + 1;
    this.spacer.style.height = `${this.levels * rowHeight + 4}px`;
    this.draw();
  }

  draw() {
    if (!this.calls || !this.begin()) return;
    const {g, w, h} = this;
    g.font = '12px ui-sans-serif, system-ui, sans-serif';
    g.textBaseline = 'middle';
    this.rows = [];
    this.height = h;
    this.bottom = Math.max(h, this.levels * rowHeight + 4) - this.frame.scrollTop;
    const {tree, top} = this.calls, above = [];
    for (let n = tree.parent[this.focus]; n >= top && n >= 0; n = tree.parent[n]) above.unshift(n);
    above.forEach((n, level) => this.box(n, level, 0, w, true));
    this.below(this.focus, above.length, w);
  }

  // below draws a node as wide as the graph, and what is below it.
  below(node, level, w) {
    const {width, tree} = this.calls;
    const stack = [[node, level, 0, w]];
    while (stack.length) {
      const [n, row, x, wide] = stack.pop();
      this.box(n, row, x, wide, false);
      if (!this.upwards && (row + 1) * rowHeight - this.scroller.scrollTop > this.height) continue;
      const scale = wide / (width[n] || 1), least = thinnest / scale;
      let at = x;
      for (const c of this.children(n, least)) {
        stack.push([c, row + 1, at, width[c] * scale]);
        at += width[c] * scale;
      }
      const rest = this.thin; // what is too thin to be drawn alone
      if (rest * scale >= 1) this.sliver(row + 1, at, Math.min(rest * scale, x + wide - at));
      if (tree.end[n] - n < 1) break;
    }
  }

  // children returns the children of a node that are wide enough, in a steady order, and sums up the others in this.thin.
  children(n, least) {
    const {tree, width, order} = this.calls, list = [];
    this.thin = 0;
    for (let c = n + 1; c < tree.end[n]; c = tree.end[c]) {
      if (width[c] >= least) list.push(c); else if (width[c] > 0) this.thin += width[c];
    }
    return list.sort((a, b) => order[b] - order[a] || a - b);
  }

  y(row) {
    const y = row * rowHeight;
    return this.upwards ? this.bottom - y - rowHeight : y - this.scroller.scrollTop;
  }

  name(n) {
    const {tree, title} = this.calls;
    return tree.fn[n] < 0 ? title : tree.frames[tree.fn[n]];
  }

  color(n, dark) {
    const {tree, change, mixture} = this.calls, f = tree.fn[n], frames = this.page.frames;
    if (change) return changeColor(change[n], this.greatest, dark);
    return f < 0 ? frameColor(mixture[n], 'class', '', dark) : frameColor(mixture[n], frames.kind[f], frames.packages[f], dark);
  }

  box(n, row, x, wide, dimmed) {
    const g = this.g, y = this.y(row), dark = this.page.dark;
    if (y > this.height || y < -rowHeight) return;
    (this.rows[row] ||= []).push({n, x, to: x + wide});
    const found = this.match && this.calls.tree.fn[n] >= 0 && this.match[this.calls.tree.fn[n]];
    g.globalAlpha = dimmed ? 0.55 : this.match && !found ? 0.45 : 1;
    g.fillStyle = found ? (dark ? '#d9b13b' : '#f2d045') : this.color(n, dark);
    g.fillRect(x, y, Math.max(wide - (wide > 3 ? 1 : 0), 0.5), rowHeight - 1);
    g.globalAlpha = 1;
    if (n === this.selected) {
      g.strokeStyle = dark ? '#ffffff' : '#15181d';
      g.lineWidth = 2;
      g.strokeRect(x + 1, y + 1, Math.max(wide - 3, 1), rowHeight - 3);
    }
    if (wide > 26) {
      g.fillStyle = found ? '#1b1b10' : dark ? '#f0f2f5' : '#15181d';
      this.label(this.name(n), x + 4, y + rowHeight / 2, wide - 8);
    }
  }

  // label writes as much of a name as fits.
  label(text, x, y, wide) {
    const g = this.g, fits = (t) => g.measureText(t).width <= wide;
    text = Graph.shorter(text).find(fits) ?? '';
    g.fillText(text, x, y);
  }

  sliver(row, x, wide) {
    const y = this.y(row);
    if (y > this.height || y < -rowHeight) return;
    this.g.fillStyle = this.page.dark ? '#2e333b' : '#d5d9df';
    this.g.fillRect(x, y, wide, rowHeight - 1);
  }

  // at returns the node at a point of the canvas; undefined if there is none.
  at(x, y) {
    const row = Math.floor(this.upwards ? (this.bottom - y) / rowHeight : (y + this.scroller.scrollTop) / rowHeight);
    return this.rows[row]?.find((b) => b.x <= x && x < Math.max(b.to, b.x + 1))?.n;
  }

  select(n) {
    if (n === undefined || n < 0) return;
    this.selected = n;
    const {tree} = this.calls;
    const inFocus = this.focus <= n && n < tree.end[this.focus];
    if (!inFocus) this.focus = n;
    this.layout();
    this.reveal();
  }

  // reveal scrolls to the selected node.
  reveal() {
    const {tree, top} = this.calls, row = tree.depth[this.selected] - tree.depth[top];
    const y = this.upwards ? (this.levels - row - 1) * rowHeight : row * rowHeight;
    if (y < this.scroller.scrollTop) this.scroller.scrollTop = y;
    if (y + 2 * rowHeight > this.scroller.scrollTop + this.scroller.clientHeight) this.scroller.scrollTop = y + 2 * rowHeight - this.scroller.clientHeight;
    this.draw();
  }

  // move selects the caller, the first callee, or the neighbour of the selected node.
  move(key) {
    const {tree, top, width} = this.calls, n = this.selected, parent = tree.parent[n];
    const [toCaller, toCallee] = this.upwards ? ['ArrowDown', 'ArrowUp'] : ['ArrowUp', 'ArrowDown'];
    if (key === toCaller && n !== top) return this.select(parent);
    if (key === toCallee) return this.select(this.children(n, width[this.focus] * 1e-9)[0]);
    if (n === top || parent < 0) return;
    const list = this.children(parent, width[this.focus] * 1e-9);
    const to = list[list.indexOf(n) + (key === 'ArrowRight' ? 1 : -1)];
    if (to !== undefined) this.select(to);
  }

  // shorter yields a name, and ever shorter ones. The import path gives way first, then type arguments, the package, and what begins
  // the rest: its end says most. Of a typed time, the beginning does.
  static* shorter(name) {
    yield name;
    yield name = name.replace(/[\w.~-]+\//g, '');
    yield name = name.replace(/\[.*\]/, '[…]');
    const letters = [...name.replace(/^(go:|class:)?[^.:[\]()]*\.(?=.)/, '$1')];
    yield letters.join('');
    for (let n = letters.length - 1; n >= 2; n--) yield name[0] === ':' ? `${name.slice(0, n)}…` : `…${letters.slice(-n).join('')}`;
  }
}
