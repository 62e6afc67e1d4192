// The heat map of latency: the calls of a function by when they begin, and by how long they took. The calls of an area that is selected
// are those whose time everything else shows.

const latencyLeft = 58, latencyBottom = 16; // pixels

class Latency extends Picture {
  constructor(canvas, page) {
    super(canvas, page);
    Object.assign(this, {function: '', map: null, window: null, proposals: null, cursor: null});
    canvas.addEventListener('pointerdown', (e) => this.press(e));
    canvas.addEventListener('pointermove', (e) => this.move(e));
    canvas.addEventListener('pointerup', () => this.release());
    canvas.addEventListener('dblclick', () => page.restrict(''));
    canvas.addEventListener('wheel', (e) => { if ((e.ctrlKey || e.metaKey) && this.map) { e.preventDefault(); this.zoom(e.deltaY < 0 ? 0.7 : 1 / 0.7, this.timeAt(this.cellAt(e)[0])); } }, {passive: false});
  }

  // propose returns functions whose calls are worth a look.
  async propose() {
    this.proposals ??= await this.page.ask('proposals', {});
    $('proposals').replaceChildren(...(this.proposals ?? []).map((p) => make('option', {value: p.function})));
    return this.proposals ?? [];
  }

  // open shows the calls of a function; of the first proposed one if it is ''.
  async open(name, said = {}) {
    this.page.say('');
    if (said.window) this.window = said.window;
    if (name) this.function = name; // the URL has it before the answer comes
    const list = await this.propose();
    name ||= this.function || list[0]?.function || '';
    if (name) await this.load(name);
    else this.page.showCalls();
  }

  // load asks for the heat map of a function.
  async load(name) {
    const size = this.size = {columns: Math.max(20, Math.min(600, Math.floor((this.frame.clientWidth - latencyLeft) / 5))), rows: 40};
    if (this.window) [size.from, size.to] = this.window.map(Math.round);
    const {only} = this.page, calls = only && (!this.map || this.map.function === name) ? {calls: only} : {};
    const map = await this.page.ask('latency', {function: name, ...calls, ...size});
    if (!map) return;
    Object.assign(this, {map, function: map.function, area: null, cursor: null});
    $('function').value = map.function;
    this.marked = Boolean(calls.calls);
    if (map.whole) this.window = null;
    $('latency-whole').hidden = map.whole;
    $('latency-zoom').hidden = !this.marked || !this.chosen().length;
    this.greatest = Math.max(1, ...map.cells.map((c) => c.calls));
    this.draw();
    this.page.keep();
    await this.contrast();
  }

  // show shows another time; all of it for null.
  show(window) {
    this.window = window;
    return this.load(this.function);
  }

  // zoom makes the time that is shown as much shorter, around some time.
  zoom(factor, around) {
    const {start_ns: from, step_ns: step, columns, whole} = this.map, to = from + columns * step;
    if (factor > 1 && whole || factor < 1 && step <= 1000) return;
    this.show([Math.max(0, around - (around - from) * factor), around + (to - around) * factor]);
  }

  chosen() { return this.map.cells.filter((c) => c.chosen).map((c) => c.column); }

  // toChosen shows the time in which the chosen calls begin.
  toChosen() {
    const columns = this.chosen();
    this.show([this.timeAt(Math.min(...columns)), this.timeAt(Math.max(...columns) + 1)]);
  }

  timeAt(column) { return this.map.start_ns + column * this.map.step_ns; }

  // contrast asks what the chosen calls have more of; if none are chosen, the slowest that are enough.
  async contrast() {
    const slow = ['p99', 'p90', 'p50'].map((q) => `${this.function} >= ${q}`);
    for (const calls of this.marked ? [this.page.only] : slow) {
      const found = await this.page.ask('contrast', {calls});
      if (!found) return;
      this.found = {...found, calls};
      if (!found.too_few) break;
    }
    this.page.showCalls();
  }

  // step shows one call, sample by sample.
  async step(number) {
    const call = await this.page.ask('call', {function: this.function, number});
    if (!call) return;
    this.call = call;
    this.page.showCalls();
  }

  // track shows the goroutine of a call over the call's time, and those that held what it waited for.
  track({goroutine, begin_ns: begin, length_ns: length}) {
    const {page} = this;
    page.openPicture('tracks', '', {goroutine: String(goroutine), window: [Math.max(0, begin - length / 10), begin + length * 1.1]});
  }

  get rows() { return this.map.edges_ns.length - 1; }
  get cellWide() { return (this.w - latencyLeft) / this.map.columns; }
  get cellTall() { return (this.h - latencyBottom - 6) / this.rows; }
  x(column) { return latencyLeft + column * this.cellWide; }
  y(row) { return this.h - latencyBottom - row * this.cellTall; } // of its lower end

  draw() {
    if (!this.map || !this.begin()) return;
    const {g, map, dark} = this, wide = this.cellWide, tall = this.cellTall;
    for (const c of map.cells) {
      const strength = 0.25 + 0.75 * Math.log(1 + c.calls) / Math.log(1 + this.greatest);
      g.globalAlpha = this.marked && !c.chosen ? 0.28 : 1;
      g.fillStyle = shade(this.marked && c.chosen ? 12 : 212, this.marked && c.chosen ? 78 : 55, strength, dark);
      g.fillRect(this.x(c.column), this.y(c.row + 1), Math.max(wide - 0.5, 1.5), Math.max(tall - 0.5, 1.5));
    }
    g.globalAlpha = 1;
    this.drawLengths();
    this.axis(map.start_ns, map.start_ns + map.columns * map.step_ns, latencyLeft);
    const area = this.area ?? this.cursor;
    if (!area) return;
    g.strokeStyle = this.ink;
    g.lineWidth = 1.5;
    g.strokeRect(this.x(area.left), this.y(area.top + 1), (area.right - area.left + 1) * wide, (area.top - area.bottom + 1) * tall);
  }

  // drawLengths writes some edges on the left, and quantiles as lines.
  drawLengths() {
    const {g, map} = this;
    g.textBaseline = 'middle';
    g.textAlign = 'right';
    g.fillStyle = this.quiet;
    const each = Math.max(1, Math.ceil(15 / this.cellTall));
    for (let row = map.untimed ? each : 0; row <= this.rows; row += each) g.fillText(lengthText(map.edges_ns[row]), latencyLeft - 5, Math.max(7, this.y(row)));
    if (map.untimed) g.fillText('not timed', latencyLeft - 5, this.y(0.5));
    const lines = new Map(); // names of quantiles, by where they are
    for (const q of map.quantiles) if (q.least_ns > 0 && q.name !== 'longest') {
      const middle = (q.least_ns + q.most_ns) / 2;
      lines.set(middle, [...lines.get(middle) ?? [], q.name]);
    }
    for (const [length, names] of lines) {
      const y = this.y(this.rowOf(length));
      g.fillRect(latencyLeft, y, this.w - latencyLeft, 0.5);
      g.fillText(names.join(', '), this.w - 3, y < 14 ? y + 7 : y - 7);
    }
    g.textAlign = 'left';
  }

  // rowOf returns where a length is, in rows from the bottom.
  rowOf(length) {
    const edges = this.map.edges_ns;
    let row = edges.findLastIndex((e) => e <= length);
    row = Math.max(0, Math.min(row, this.rows - 1));
    const from = Math.max(1, edges[row]), to = edges[row + 1];
    return row + Math.max(0, Math.min(1, Math.log(Math.max(1, length) / from) / Math.log(to / from) || 0));
  }

  cellAt(e) {
    const r = this.canvas.getBoundingClientRect();
    const column = Math.floor((e.clientX - r.left - latencyLeft) / this.cellWide), row = Math.floor((this.h - latencyBottom - (e.clientY - r.top)) / this.cellTall);
    return [Math.max(0, Math.min(this.map.columns - 1, column)), Math.max(0, Math.min(this.rows - 1, row))];
  }

  press(e) {
    if (!this.map) return;
    this.canvas.setPointerCapture(e.pointerId);
    this.from = this.cellAt(e);
    this.between(this.from, this.from);
  }

  move(e) {
    if (!this.map) return;
    const at = this.cellAt(e);
    if (this.from) this.between(this.from, at);
    this.page.say(this.describe(this.from ? this.area : {left: at[0], right: at[0], bottom: at[1], top: at[1]}));
  }

  between([a, b], [c, d]) {
    this.area = {left: Math.min(a, c), right: Math.max(a, c), bottom: Math.min(b, d), top: Math.max(b, d)};
    this.draw();
  }

  release() {
    this.from = undefined;
    if (this.area) this.select(this.area);
  }

  countIn(area) {
    return this.map.cells.reduce((n, c) => n + (c.column >= area.left && c.column <= area.right && c.row >= area.bottom && c.row <= area.top ? c.calls : 0), 0);
  }

  describe(area) {
    const {map} = this, n = this.countIn(area), lengths = map.edges_ns;
    const took = map.untimed && area.bottom === 0 ? `less than ${lengthText(lengths[area.top + 1])}` : `${lengthText(lengths[area.bottom])} to ${lengthText(lengths[area.top + 1])}`;
    return `${clockText(map.start_ns + area.left * map.step_ns)} to ${clockText(map.start_ns + (area.right + 1) * map.step_ns)}, ${took}: ${several(n, 'call')}`;
  }

  // select shows only the time inside the calls of an area.
  async select(area) {
    if (!this.countIn(area)) {
      this.area = null;
      this.page.say('no call is there');
      return this.draw();
    }
    const found = await this.page.ask('area', {function: this.function, ...this.size, ...area});
    if (found) this.page.restrict(found.calls);
  }

  // key moves the cursor, with the shift key one corner of it; Enter selects what is below it.
  key(e) {
    if (!this.map) return false;
    const by = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1]}[e.key];
    if (e.key === 'Escape') this.page.restrict('');
    else if (e.key === 'Enter' && this.cursor) this.select(this.cursor);
    else if (e.key === '+' || e.key === '-') this.zoom(e.key === '+' ? 0.5 : 2, this.timeAt(this.cursor ? (this.cursor.left + this.cursor.right + 1) / 2 : this.map.columns / 2));
    else if (by) {
      const slowest = this.map.cells.reduce((a, c) => !a || c.row > a.row ? c : a, null);
      if (!this.cursor) this.corners = [[slowest?.column ?? 0, slowest?.row ?? 0], [slowest?.column ?? 0, slowest?.row ?? 0]];
      else {
        const clamp = (n, most) => Math.max(0, Math.min(n, most));
        const to = [clamp(this.corners[1][0] + by[0], this.map.columns - 1), clamp(this.corners[1][1] + by[1], this.rows - 1)];
        this.corners = [e.shiftKey ? this.corners[0] : to, to];
      }
      this.between(...this.corners);
      this.cursor = this.area;
      this.page.say(this.describe(this.area));
    } else return false;
    return true;
  }
}

// callsTable returns the table of a function's calls: how long they took, what the slow ones have more of, and the longest.
function callsTable(page) {
  const {map, found, proposals, call} = page.latency;
  const percent = (s) => share(s.share), between = (s) => `${share(s.low)} to ${share(s.high)}`;
  const parts = [];
  if (map) {
    parts.push(make('h3', {}, ...breakable(map.function)),
      make('p', {textContent: [several(map.calls, 'call'), ...map.quantiles.map((q) => `${q.name} ${q.text}`)].join(' · ')}),
      make('p', {className: 'quiet', textContent: [{samples: 'The samples show them: ends are known up to an interval.', uprobes: 'Probes timed them: ends are exact.', trace: 'The trace has them: ends are exact.'}[map.source] ?? '', map.note,
        map.cut ? `${grouped(map.cut)} more had begun before, or ended after.` : ''].filter(Boolean).join(' ')}));
  }
  if (map && found && found.function === map.function) {
    parts.push(make('h4', {textContent: found.calls.startsWith(map.function) ? `slow: ${found.calls.slice(map.function.length).trim()} – ${several(found.slow, 'call')}, the rest ${grouped(found.rest)}` : found.calls}));
    if (found.too_few) parts.push(make('p', {textContent: `These are too few to say what they have more of: it takes ${found.least} calls of each.`}));
    else for (const [i, side] of ['slow', 'rest'].entries()) {
      const b = bar(found.parts[i], page.dark);
      parts.push(make('div', {}, make('span', {className: 'side', textContent: side}), b, b.ariaLabel));
    }
    if (!found.too_few && !found.more.length) parts.push(make('p', {textContent: 'There is nothing that they certainly have more of.'}));
    if (found.more.length) {
      parts.push(table('what slow calls have more of', [number('slow'), number('rest'), 'share of their time'], found.more.map((m) => make('tr', {},
        make('td', {className: 'number', title: between(m.slow), textContent: percent(m.slow)}), make('td', {className: 'number', title: between(m.rest), textContent: percent(m.rest)}), make('td', {}, ...breakable(m.text))))));
    }
    parts.push(make('h4', {textContent: 'the longest of them'}), table('the longest calls', [number('took'), number('from'), number('goroutine')], found.longest.flatMap((c) => [
      make('tr', {}, make('td', {className: 'number'}, link(c.took, () => page.latency.step(c.number), 'what it did')),
        make('td', {className: 'number', textContent: clockText(c.begin_ns)}), make('td', {className: 'number', textContent: c.goroutine})),
      call && call.number === c.number && call.begin_ns === c.begin_ns ? make('tr', {}, make('td', {colSpan: 3}, stepsTable(page, call), make('p', {className: 'actions'}, link('show its track', () => page.latency.track(call))))) : null,
    ].filter(Boolean))));
  }
  if (proposals?.length) {
    parts.push(make('h4', {textContent: 'functions whose calls are pieces of work'}), table('functions', ['function', number('calls'), number('p99'), number('longest')], proposals.map((p) => make('tr', {},
      make('td', {}, link(p.function, () => page.latency.load(p.function), p.class)), make('td', {className: 'number', textContent: grouped(p.calls)}),
      ...['p99', 'longest'].map((name) => p.quantiles.find((q) => q.name === name)).map((q) => make('td', {className: 'number', textContent: q?.text ?? ''}))))));
  }
  const none = proposals ? 'No function stands out whose calls are pieces of work: type one above the heat map.' : "'Calls', above the timeline, shows how long the calls of a function took.";
  return parts.length ? parts : [make('p', {textContent: none})];
}

// stepsTable returns what the goroutine of a call did, in order.
function stepsTable(page, call) {
  if (!call.steps.length) return make('p', {textContent: 'No sample is inside of it.'});
  return table('steps of the call', [number('after'), number('for'), 'it'], call.steps.map((s) => make('tr', {},
    make('td', {className: 'number', textContent: lengthText(s.at_ns)}), make('td', {className: 'number', textContent: lengthText(s.length_ns)}),
    make('td', {}, make('i', {className: `dot ${typedNames[s.typed].toLowerCase()}`, title: typedNames[s.typed]}), ...breakable(s.text)))));
}
