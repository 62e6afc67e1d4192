// Tracks: what goroutines did over time, by typed time: a row for a class; below it one for each of its goroutines; below one of these, those
// that held what it waited for. Only the rows that are visible are asked for and drawn, on one canvas.

const tracksLeft = 190, tracksAxis = 16, classTall = 26, trackTall = 20; // pixels

class Tracks extends Picture {
  constructor(canvas, scroller, spacer, page) {
    super(canvas, page, scroller);
    Object.assign(this, {scroller, spacer, class: '', goroutine: '', window: null, part: null, selected: 0, number: 0, told: 0});
    scroller.addEventListener('scroll', () => { this.draw(); this.later(); });
    canvas.addEventListener('pointerdown', (e) => this.press(e));
    canvas.addEventListener('pointermove', (e) => this.move(e));
    canvas.addEventListener('pointerup', (e) => this.release(e));
    canvas.addEventListener('pointerleave', () => this.leave());
    canvas.addEventListener('dblclick', () => this.show({window: null}));
    canvas.addEventListener('wheel', (e) => { if (e.ctrlKey || e.metaKey) { e.preventDefault(); this.zoom(e.deltaY < 0 ? 0.7 : 1 / 0.7, this.timeAt(e.offsetX)); } }, {passive: false});
  }

  resized() { this.draw(); this.later(); }

  // open shows what a URL says, with the calls of a function; of the first proposed one if it is ''.
  async open(name, {class: of = '', goroutine = '', window = null}) {
    const {latency} = this.page;
    latency.function = name || latency.function || (await latency.propose())[0]?.function || '';
    $('function').value = latency.function;
    return this.show({class: of, goroutine, window});
  }

  // show shows another part of the tracks.
  show(part) {
    const row = this.class + this.goroutine;
    Object.assign(this, part);
    if (row !== this.class + this.goroutine) this.scroller.scrollTop = this.selected = 0;
    return this.load();
  }

  later() {
    this.waiting ??= setTimeout(() => { // at most once in this time
      this.waiting = undefined;
      if (this.part && this.missing()) this.load();
    }, 60);
  }

  get tall() { return this.class || this.goroutine ? trackTall : classTall; }
  get visible() { return [Math.floor(this.scroller.scrollTop / this.tall), Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / this.tall)]; }
  get columns() { return Math.max(20, Math.min(1500, Math.floor((this.scroller.clientWidth - tracksLeft) / (this.class || this.goroutine ? 1 : 3)))); }
  list() { return this.part.classes.length ? this.part.classes : this.part.rows; }

  // missing reports whether rows that are visible are not there, or have other columns.
  missing() {
    const [from, to] = this.visible, {first, total} = this.part;
    return this.scroller.clientHeight > 0 && (this.part.columns !== this.columns || from < first || Math.min(to, total) > first + this.list().length);
  }

  // load asks for the rows that are visible, and a few more.
  async load() {
    if (!this.scroller.clientHeight) return;
    const [from, to] = this.visible, first = Math.max(0, from - 10), number = ++this.number, {columns} = this;
    const query = {first, rows: Math.min(200, to - first + 10), columns};
    if (this.goroutine) query.goroutine = this.goroutine;
    else if (this.class) query.class = this.class;
    if (this.window) [query.from, query.to] = this.window.map(Math.round);
    if (this.page.latency.function) query.function = this.page.latency.function;
    const part = await this.page.ask('tracks', query);
    if (!part || number !== this.number) return;
    this.part = {...part, columns};
    if (this.goroutine) this.class = part.class;
    this.spacer.style.height = `${part.total * this.tall + tracksAxis}px`;
    $('tracks-up').hidden = !this.class && !this.goroutine;
    $('tracks-up').textContent = this.goroutine ? `goroutine ${this.goroutine} ✕` : `${this.class}: ${grouped(part.total)} goroutines ✕`;
    $('tracks-whole').hidden = !this.window;
    this.draw();
    this.page.keep();
  }

  up() { return this.show(this.goroutine ? {goroutine: ''} : {class: ''}); }

  // down opens a row: a class, or a goroutine.
  down(row) {
    const one = this.list()[row - this.part.first];
    if (!one) return;
    if (this.part.classes.length) this.show({class: one.name});
    else this.show({goroutine: String(one.id), class: one.class});
  }

  x(ns) { return tracksLeft + ns / (this.part.to_ns - this.part.from_ns) * (this.w - tracksLeft); } // since the window's begin
  y(row) { return row * this.tall - this.scroller.scrollTop; }
  timeAt(x) { return this.part.from_ns + Math.max(0, Math.min(1, (x - tracksLeft) / (this.w - tracksLeft))) * (this.part.to_ns - this.part.from_ns); }

  draw() {
    if (!this.part || !this.begin()) return;
    const {g, part} = this;
    this.list().forEach((row, i) => {
      const y = this.y(part.first + i);
      if (y > this.h || y < -this.tall) return;
      if (row.shares) this.drawShares(row, y);
      else this.drawTrack(row, y);
      g.fillStyle = this.ink;
      g.textBaseline = 'middle';
      const below = this.goroutine && i > 0, name = row.shares ? `${row.name} (${row.goroutines})` : `${below ? '↳ holder ' : ''}${row.id}${below ? ` ${row.class}` : ''}`;
      this.label(name, y + this.tall / 2);
      if (part.first + i === this.selected) {
        g.strokeStyle = this.ink;
        g.lineWidth = 1;
        g.strokeRect(0.5, y + 0.5, this.w - 1, this.tall - 1);
      }
    });
    if (this.goroutine) part.rows.slice(1).forEach((row, i) => this.drawHeld(row, i + 1));
    g.fillStyle = this.dark ? '#171b21' : '#ffffff';
    g.fillRect(0, this.h - tracksAxis, this.w, tracksAxis);
    this.axis(part.from_ns, part.to_ns, tracksLeft);
    if (this.range) {
      g.fillStyle = this.wash;
      const [a, z] = [Math.min(...this.range), Math.max(...this.range)];
      g.fillRect(tracksLeft, 0, a - tracksLeft, this.h);
      g.fillRect(z, 0, this.w - z, this.h);
    }
  }

  label(name, y) {
    const text = [...Graph.shorter(name)].find((t) => this.g.measureText(t).width <= tracksLeft - 10) ?? '';
    this.g.fillText(text, 4, y);
  }

  // drawShares draws which part of a class's goroutines is in each typed time.
  drawShares(row, y) {
    const {g} = this, types = typedNames.length, columns = row.shares.length / types, wide = (this.w - tracksLeft) / columns, tall = this.tall - 3;
    for (let c = 0; c < columns; c++) {
      let at = y + 1 + tall;
      for (const t of [4, 3, 2, 1, 0]) { // waiting is lowest
        const share = row.shares[c * types + t] / 200;
        if (!share) continue;
        const high = Math.max(share * tall, 1);
        at -= high;
        g.fillStyle = typedColor(t, this.dark);
        g.globalAlpha = t === 4 ? 0.35 : 1;
        g.fillRect(tracksLeft + c * wide, at, wide + 0.3, high);
      }
    }
    g.globalAlpha = 1;
  }

  // drawTrack draws a goroutine, and brackets of its calls above it.
  drawTrack(row, y) {
    const {g} = this, {segments, calls} = row, top = y + (this.page.latency.function ? 6 : 2), tall = y + this.tall - 2 - top;
    for (let i = 0; i < segments.length; i += 4) {
      const x = this.x(segments[i]), wide = Math.max(this.x(segments[i + 1]) - x, 0.7), t = segments[i + 2];
      g.fillStyle = typedColor(t, this.dark);
      g.globalAlpha = t === 4 ? 0.45 : 1;
      g.fillRect(x, top, wide, tall);
      g.globalAlpha = 1;
      if (segments[i + 3]) { // a holder is known
        g.fillStyle = this.ink;
        g.fillRect(x, y + this.tall - 2, wide, 1.5);
      }
    }
    g.strokeStyle = this.ink;
    g.lineWidth = 1;
    g.beginPath();
    for (let i = 0; i < calls.length; i += 3) {
      const x = this.x(calls[i]) + 0.5, to = Math.max(this.x(calls[i + 1]) - 1, x + 0.5);
      g.moveTo(x, y + 6);
      g.lineTo(x, y + 2.5);
      g.lineTo(to, y + 2.5);
      g.lineTo(to, y + 6);
    }
    g.stroke();
  }

  // drawHeld links the waits of the first row with a goroutine that held what it waited for.
  drawHeld(row, i) {
    const {g} = this, y = this.y(i), above = this.y(0) + this.tall - 1;
    g.strokeStyle = typedColor(3, this.dark);
    g.lineWidth = 1.5;
    for (let k = 0; k < row.held.length; k += 2) {
      const x = this.x(row.held[k]), wide = Math.max(this.x(row.held[k + 1]) - x, 1);
      g.strokeRect(x, y + 1, wide, this.tall - 2);
      g.beginPath();
      g.moveTo(x, above);
      g.lineTo(x, y + 1);
      g.stroke();
    }
  }

  rowAt(y) {
    const row = Math.floor((y + this.scroller.scrollTop) / this.tall);
    return y < this.h - tracksAxis && row < this.part.total ? row : -1;
  }

  press(e) {
    if (!this.part) return;
    this.canvas.setPointerCapture(e.pointerId);
    this.pressed = {x: e.offsetX, y: e.offsetY};
  }

  move(e) {
    if (!this.part) return;
    if (this.pressed) {
      if (this.range || this.pressed.x > tracksLeft && Math.abs(e.offsetX - this.pressed.x) > 4) this.range = [this.pressed.x, Math.max(tracksLeft, Math.min(this.w, e.offsetX))];
      return this.draw();
    }
    const row = this.rowAt(e.offsetY), one = row < 0 ? null : this.list()[row - this.part.first], at = this.timeAt(e.offsetX);
    this.page.say(e.offsetX < tracksLeft ? '' : clockText(at, (this.part.to_ns - this.part.from_ns) / 20));
    clearTimeout(this.resting);
    this.told++;
    $('tip').hidden = true;
    if (!one || e.offsetX < tracksLeft) return;
    const place = {clientX: e.clientX, clientY: e.clientY};
    this.resting = setTimeout(() => this.tell(one, at, place), 120);
  }

  leave() {
    clearTimeout(this.resting);
    $('tip').hidden = true;
    this.told++;
  }

  // tell shows the stack under the pointer, and who holds the lock.
  async tell(row, at, place) {
    if (row.shares) return this.page.tip(place, row.name, [`${row.goroutines} goroutines`, ...this.sharesAt(row, at), 'click to see each']);
    const told = ++this.told, m = await this.page.ask('moment', {goroutine: row.id, at: Math.round(at)});
    if (!m || told !== this.told) return; // the pointer is elsewhere
    const top = m.frames.slice(-12).reverse(), call = this.callAt(row, at - this.part.from_ns);
    this.page.tip(place, `goroutine ${m.id} ${m.text}`, [
      m.to_ns > m.from_ns ? `for ${lengthText(m.to_ns - m.from_ns)}, from ${clockText(m.from_ns, 1e7)}` : '', call ? `in call ${call} of ${this.page.latency.function}` : '',
      ...m.holders.slice(0, 4).map((h) => `goroutine ${h.id} ${m.verb}: ${h.class} ${h.text}${h.frames.length ? `, in ${ownFrame(h.frames)}` : ''}`),
      ...top.map((f) => `  ${f}`), m.frames.length > top.length ? `  … ${m.frames.length - top.length} more` : '']);
  }

  sharesAt(row, at) {
    const types = typedNames.length, columns = row.shares.length / types, c = Math.min(columns - 1, Math.floor((at - this.part.from_ns) / (this.part.to_ns - this.part.from_ns) * columns));
    return typedNames.map((name, t) => row.shares[c * types + t] ? `${name} ${share(row.shares[c * types + t] / 200)}` : '').filter(Boolean);
  }

  callAt(row, at) {
    for (let i = 0; i < row.calls.length; i += 3) if (row.calls[i] <= at && at < row.calls[i + 1]) return row.calls[i + 2];
  }

  async release(e) {
    const {range} = this;
    this.pressed = this.range = undefined;
    if (!this.part) return;
    if (range) return this.show({window: [this.timeAt(Math.min(...range)), this.timeAt(Math.max(...range))]});
    const row = this.rowAt(e.offsetY);
    if (row < 0) return;
    this.selected = row;
    this.draw();
    if (this.part.classes.length || e.offsetX < tracksLeft) this.down(row);
    else this.link(row, this.timeAt(e.offsetX));
  }

  // link shows the stack of a goroutine at some time in the graph.
  async link(row, at) {
    const one = this.list()[row - this.part.first], m = one && await this.page.ask('moment', {goroutine: one.id, at: Math.round(at)});
    if (m && this.page.viewNamed(m.class)) this.page.openView(m.class, [...m.frames, `:${typedNames[m.typed]}`]);
  }

  // zoom makes the window as much shorter, around some time.
  zoom(factor, around) {
    const {from_ns: from, to_ns: to, begin_ns: begin, end_ns: end} = this.part;
    const a = Math.max(begin, around - (around - from) * factor), z = Math.min(end, around + (to - around) * factor);
    this.show({window: a <= begin && z >= end ? null : [a, Math.max(z, a + 1000)]});
  }

  pan(by) {
    const {from_ns: from, to_ns: to, begin_ns: begin, end_ns: end} = this.part, d = Math.max(begin - from, Math.min(end - to, (to - from) * by));
    if (d) this.show({window: [from + d, to + d]});
  }

  key(e) {
    if (!this.part) return false;
    const {from_ns: from, to_ns: to} = this.part, keys = {
      ArrowUp: () => this.choose(this.selected - 1), ArrowDown: () => this.choose(this.selected + 1), Enter: () => this.down(this.selected), Backspace: () => this.up(),
      ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25), '+': () => this.zoom(0.5, (from + to) / 2), '-': () => this.zoom(2, (from + to) / 2), Escape: () => this.show({window: null}),
    };
    if (!keys[e.key]) return false;
    keys[e.key]();
    return true;
  }

  choose(row) {
    this.selected = Math.max(0, Math.min(this.part.total - 1, row));
    const y = this.selected * this.tall, {scroller} = this;
    if (y < scroller.scrollTop) scroller.scrollTop = y;
    if (y + this.tall + tracksAxis > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = y + this.tall + tracksAxis - scroller.clientHeight;
    this.draw();
  }
}

// ownFrame returns the innermost frame outside of the standard library, whose packages have no dot in their first part, or of main.
function ownFrame(frames) { return frames.findLast((f) => f.startsWith('main.') || /^[^/]*\.[^/]*\//.test(f)) ?? frames.at(-1); }
