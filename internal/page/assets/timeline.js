// The timeline: a heat map. A column is some time, its cells from the bottom up are its parts, and darker ones have more goroutines
// in what is shown. A strip below it has the typed times of each column.

class Timeline extends Picture {
  constructor(canvas, page, changed) {
    super(canvas, page);
    Object.assign(this, {changed, span: null});
    canvas.addEventListener('pointerdown', (e) => this.press(e));
    canvas.addEventListener('pointermove', (e) => this.drag(e));
    canvas.addEventListener('pointerup', () => { this.from = undefined; });
    canvas.addEventListener('dblclick', () => this.choose(null));
  }

  // divide chooses the cells: at most so many columns of equal time, of so many rows.
  divide() {
    const {clock} = this.page;
    this.start = clock.at[0];
    this.length = Math.max(1, clock.at[clock.slices - 1] - this.start) * (1 + 1 / Math.max(1, clock.slices - 1));
    const most = Math.min(600, Math.max(40, clock.slices / 4));
    this.step = Math.max(1e6, roundTime(this.length / most));
    this.columns = Math.max(1, Math.ceil(this.length / this.step));
    this.parts = Math.max(1, Math.min(20, Math.round(clock.slices / this.columns)));
    this.cells = this.columns * this.parts;
    this.first = new Int32Array(this.cells + 1); // by cell: its first slice
    for (let cell = 0, s = 0; cell <= this.cells; cell++) {
      while (s < clock.slices && clock.at[s] < this.start + cell * this.step / this.parts) s++;
      this.first[cell] = s;
    }
    this.first[this.cells] = clock.slices;
  }

  // show counts the goroutines of a view, of one typed time or of all (-1), and draws them.
  show(view, typed) {
    this.divide();
    const {side, end} = view.tree, {clock} = this.page;
    this.typed = typedNames.map((_, t) => {
      const wanted = Uint8Array.from(side.node, (n, p) => side.kind[p] === Ending && n >= view.top && n < end[view.top] && outerTyped(view, n) === t ? 1 : 0);
      return presence(side, clock, wanted);
    });
    this.value = new Float64Array(this.cells);
    this.greatest = 0;
    for (let cell = 0; cell < this.cells; cell++) {
      const from = this.first[cell], to = this.first[cell + 1];
      let sum = 0;
      for (let s = from; s < to; s++) {
        const samples = clock.samples[s + 1] - clock.samples[s];
        for (let t = 0; t < typedNames.length; t++) if (typed < 0 || t === typed) sum += this.typed[t][s] * samples;
      }
      const samples = clock.samples[to] - clock.samples[from];
      this.value[cell] = samples ? sum / samples : NaN;
      if (this.value[cell] > this.greatest) this.greatest = this.value[cell];
    }
    this.hue = typed;
    this.draw();
  }

  draw() {
    if (!this.value || !this.begin()) return;
    const {g, w, h, dark} = this;
    this.strip = 20;
    this.below = 16;
    const map = h - this.strip - this.below - 4, cw = w / this.columns, ch = map / this.parts;
    const [hue, saturation] = this.hue >= 0 ? typedHues[this.hue] : [212, 45];
    for (let cell = 0; cell < this.cells; cell++) {
      const v = this.value[cell];
      if (Number.isNaN(v)) continue;
      const strength = this.greatest ? v / this.greatest : 0;
      g.fillStyle = shade(hue, saturation, strength, dark);
      const x = Math.floor(cell / this.parts) * cw, y = map - (cell % this.parts + 1) * ch;
      g.fillRect(x, y, Math.max(cw - (cw > 4 ? 0.6 : 0), 0.7), Math.max(ch - (ch > 3 ? 0.6 : 0), 0.7));
    }
    this.drawStrip(g, map + 3, cw, dark);
    this.axis(this.start, this.start + this.columns * this.step);
    this.drawSpan(g, map, cw, ch);
    this.map = map;
  }

  // drawStrip draws the shares of the typed times of each column.
  drawStrip(g, y, cw, dark) {
    const {clock} = this.page;
    for (let c = 0; c < this.columns; c++) {
      const from = this.first[c * this.parts], to = this.first[(c + 1) * this.parts], sums = typedNames.map(() => 0);
      for (let s = from; s < to; s++) this.typed.forEach((list, t) => { sums[t] += list[s] * (clock.samples[s + 1] - clock.samples[s]); });
      const all = sums.reduce((a, b) => a + b, 0);
      let at = y;
      sums.forEach((sum, t) => {
        if (!all || !sum) return;
        const tall = sum / all * this.strip;
        g.fillStyle = typedColor(t, dark);
        g.fillRect(c * cw, at, Math.max(cw - (cw > 4 ? 0.6 : 0), 0.7), tall);
        at += tall;
      });
    }
  }

  // drawSpan outlines the chosen cells, and dims the others.
  drawSpan(g, map, cw, ch) {
    if (!this.span) return;
    const [from, to] = this.span;
    g.fillStyle = this.wash;
    for (let c = 0; c < this.columns; c++) {
      const a = Math.max(0, Math.min(this.parts, from - c * this.parts)), z = Math.max(0, Math.min(this.parts, to - c * this.parts));
      g.fillRect(c * cw, map - a * ch, cw, a * ch);
      g.fillRect(c * cw, 0, cw, map - z * ch);
    }
    g.strokeStyle = this.ink;
    g.lineWidth = 1.5;
    const a = Math.floor(from / this.parts), z = Math.floor((to - 1) / this.parts);
    g.strokeRect(a * cw + 0.75, 0.75, Math.max((z - a + 1) * cw - 1.5, 1), map + this.strip + 3);
  }

  cellAt(e) {
    const r = this.canvas.getBoundingClientRect();
    const c = Math.max(0, Math.min(this.columns - 1, Math.floor((e.clientX - r.left) / r.width * this.columns)));
    const y = e.clientY - r.top;
    if (y > this.map) return [c * this.parts, (c + 1) * this.parts - 1]; // the whole column
    const row = Math.max(0, Math.min(this.parts - 1, Math.floor((this.map - y) / this.map * this.parts)));
    return [c * this.parts + row, c * this.parts + row];
  }

  press(e) {
    this.canvas.setPointerCapture(e.pointerId);
    this.from = this.cellAt(e);
    this.pick(this.from, this.from);
  }

  drag(e) {
    if (this.from) this.pick(this.from, this.cellAt(e));
    else this.page.say(this.describe(this.cellAt(e)[0]));
  }

  describe(cell) {
    const at = this.start + cell * this.step / this.parts, v = this.value?.[cell];
    return `${clockText(at)}: ${v === undefined || Number.isNaN(v) ? 'no sample' : `${v.toFixed(2)} goroutines`}`;
  }

  pick(a, b) { this.choose([Math.min(a[0], b[0]), Math.max(a[1], b[1]) + 1]); }

  // choose selects the cells [from, to), or all.
  choose(span) {
    if (span && this.first[span[0]] === this.first[span[1]]) return; // without samples
    if (String(span) === String(this.span)) return;
    this.span = span;
    this.draw();
    this.changed(span ? [this.first[span[0]], this.first[span[1]]] : [0, this.page.end]);
  }

  // chooseTime selects the cells of a span of time, in nanoseconds since the start.
  chooseTime(from, to) {
    const cell = (at) => (at - this.start) / this.step * this.parts;
    this.choose([Math.max(0, Math.floor(cell(from))), Math.min(this.cells, Math.max(Math.floor(cell(from)) + 1, Math.ceil(cell(to))))]);
  }

  // key moves the selection by a column or a cell, or makes it longer with the shift key.
  key(e) {
    const by = {ArrowLeft: -this.parts, ArrowRight: this.parts, ArrowDown: -1, ArrowUp: 1}[e.key];
    if (e.key === 'Escape') return this.choose(null), true;
    if (!by) return false;
    const [from, to] = this.span ?? [0, this.parts];
    if (!this.span) this.choose([from, to]);
    else if (e.shiftKey) this.choose([from, Math.max(from + 1, Math.min(this.cells, to + by))]);
    else if (from + by >= 0 && to + by <= this.cells) this.choose([from + by, to + by]);
    return true;
  }
}

// outerTyped returns the typed time that a stack of a view is in, not that of a lock's holder.
function outerTyped(view, n) {
  let typed = -1;
  for (; n > view.top; n = view.tree.parent[n]) if (view.first.begins[n] >= 0) typed = view.first.begins[n];
  return typed;
}
