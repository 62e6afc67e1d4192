// The page: what is shown, and what keys and controls do.

const $ = (id) => document.getElementById(id);

const pictures = ['timeline', 'calls', 'tracks'];
// unanswered says why a request has no answer. A TypeError is fetch's: nobody listens.
function unanswered(e) { return e instanceof TypeError ? 'cpprof does not answer: it has ended' : e.message; }

const longestURL = 2000; // of a fragment: chats and mails cut longer ones

class Page {
  constructor() {
    this.dark = document.documentElement.dataset.theme === 'dark';
    this.graph = new Graph($('graph'), $('scroller'), $('spacer'), this);
    this.heat = new Timeline($('heat'), this, (span) => this.select(span));
    this.latency = new Latency($('latency'), this);
    this.tracks = new Tracks($('tracks'), $('tracks-scroller'), $('tracks-spacer'), this);
    this.picture = 'timeline';
    this.only = this.state().calls; // the calls whose time is shown; '' for all time
    this.wire();
  }

  // load shows data. If something was shown before, what is selected stays.
  load({header, clock, trees}) {
    const state = this.current ? this.read(this.write()) : this.state();
    Object.assign(this, {header, clock, trees, frames: new Frames(header.frames), views: [], summed: new Map(), end: Math.max(1, clock.slices)});
    this.span = [0, this.end];
    this.heat.span = null;
    document.title = `${header.name} – cpprof`;
    $('title').textContent = header.title + (header.against ? `; compared with ${header.against}` : '');
    $('growing').hidden = !header.growing || !document.documentElement.dataset.source;
    $('timeline').hidden = clock.slices < 2;
    $('compared').hidden = !header.against;
    $('legend').hidden = !!header.against || !this.frames.typed.some((t) => t >= 0); // what has no typed time has colours of packages
    $('compared').textContent = header.against ? `red: costs more than in ${header.against}; blue: less; widths are the mean of both. The other tables show only ${header.name}.` : '';
    $('only').hidden = !header.calls;
    $('only-calls').textContent = `only ${header.calls}: ${several(header.count ?? 0, 'call')} with samples`;
    $('only-all').hidden = !this.only;
    for (const name of pictures) $(`show-${name}`).hidden = !header.times;
    $('warnings').textContent = header.warnings.length ? several(header.warnings.length, 'warning') : '';
    const select = $('view');
    select.replaceChildren(...header.views.map((v, i) => make('option', {value: i, textContent: v.title})));
    this.openView([state.view, header.open].find((n) => this.viewNamed(n)) ?? header.views[0].name, state.path, state.at);
    for (const tab of document.querySelectorAll('[role=tab]')) tab.hidden = !this.hasTable(tab.id.slice(4));
    const shown = document.querySelector('[role=tab][aria-selected=true]:not([hidden])') ?? document.querySelector('[role=tab]:not([hidden])');
    this.openTab(shown.id.slice(4));
    this.restore(state);
    document.documentElement.dataset.ready = 'yes';
  }

  // state reads what the URL says is shown; see keep.
  state() { return this.read(new URLSearchParams(location.hash.slice(1))); }

  read(said) {
    const text = (name) => said.get(name) ?? '', path = said.getAll('path');
    const times = (name) => { const [a, z] = text(name).split('-').map(Number); return a < z ? [a, z] : null; };
    return {
      view: said.get('view'), path, at: said.get('at'), span: times('span'),
      search: text('search'), callers: said.get('callers'), tab: said.get('tab'), typed: said.get('typed'), flames: said.has('flames'),
      picture: text('picture'), function: text('function'), calls: text('calls'),
      track: {class: text('class'), goroutine: text('goroutine'), window: times('window')},
    };
  }

  // restore shows what a URL says, apart from the view and its path.
  restore({span, search, callers, tab, typed, flames, picture, function: name, track}) {
    if (flames !== $('upwards').checked) $('upwards').click();
    if (typed && [...$('typed').options].some((o) => o.value === typed)) {
      $('typed').value = typed;
      this.showHeat();
    }
    if (span && this.clock.slices > 1) this.selectTime(...span);
    $('search').value = search;
    this.search();
    const f = callers ? this.header.frames.indexOf(callers) : -1;
    if (f >= 0) this.callers(f);
    this.openPicture(pictures.includes(picture) ? picture : 'timeline', name, track);
    const button = tab && document.getElementById(`tab-${tab}`);
    if (button && !button.hidden) this.openTab(tab);
    this.keep();
  }

  // keep writes what is shown into the URL, so that it can be sent to somebody, and a reload shows the same.
  keep() {
    const shown = this.write(), path = shown.getAll('path');
    if (`#${shown}`.length > longestURL && path.length) { // a mark stands for the names
      shown.delete('path');
      shown.set('at', pathMark(path));
    }
    const hash = `#${shown}`, fits = hash.length <= longestURL;
    $('unkept').hidden = fits;
    clearTimeout(this.keeping);
    if (hash === location.hash || !fits) return;
    this.keeping = setTimeout(() => history.replaceState(null, '', hash), 300); // browsers refuse many changes at once
  }

  // write returns what is shown, for read.
  write() {
    const [from, to] = this.span, {at} = this.clock, {graph} = this;
    const shown = new URLSearchParams({view: this.current.name}), set = (name, value) => { if (value) shown.set(name, value); };
    for (const name of this.current.path(this.zoomed())) shown.append('path', name);
    set('span', (from > 0 || to < this.end) && `${at[from]}-${at[to - 1] + 1}`);
    set('search', $('search').value.trim());
    set('callers', graph.calls !== this.calls && graph.calls.title);
    set('tab', this.tab);
    set('typed', $('typed').value !== '-1' && $('typed').value);
    set('flames', graph.upwards && '1');
    set('picture', this.picture !== 'timeline' && this.picture);
    set('function', this.picture !== 'timeline' && this.latency.function);
    if (this.picture === 'tracks') {
      set('class', this.tracks.class);
      set('goroutine', this.tracks.goroutine);
    }
    set('window', {calls: this.latency, tracks: this.tracks}[this.picture]?.window?.map(Math.round).join('-'));
    set('calls', this.only);
    return shown;
  }

  // openPicture shows the timeline, or what only a server can: the calls of a function, or what goroutines did over time.
  openPicture(name, of = '', track = undefined) {
    if (!this.header.times) name = 'timeline';
    if (name !== 'timeline' && !document.documentElement.dataset.source) {
      this.say("'cpprof web' shows calls and tracks");
      name = 'timeline';
    }
    this.picture = name;
    for (const one of pictures) $(`show-${one}`).setAttribute('aria-pressed', one === name);
    for (const part of document.querySelectorAll('[class*=of-]')) part.hidden = !part.classList.contains(`of-${name}`);
    $('timeline').hidden = name === 'timeline' && this.clock.slices < 2;
    if (name === 'calls') {
      this.openTab('calls');
      this.latency.open(of, track);
    }
    if (name === 'tracks') this.tracks.open(of, track ?? this.tracks);
    this.keep();
  }

  // ask returns what the page's server answers, and undefined if it refuses: the page then says why.
  async ask(what, query) {
    try {
      const answer = await fetch(`${what}?${new URLSearchParams(query)}`, {cache: 'no-store'});
      if (!answer.ok) throw new Error((await answer.text()).trim());
      return await answer.json();
    } catch (e) { this.say(unanswered(e)); }
  }

  // restrict shows only the time inside calls; '' for all time.
  restrict(calls) {
    this.only = calls;
    this.say('counting …');
    this.wake?.();
  }

  // refused goes back to the calls that are shown.
  refused(calls, why) {
    this.only = calls;
    if (this.latency.map) this.latency.load(this.latency.function);
    this.say(why);
  }

  showCalls() { if (this.tab === 'calls') this.openTab('calls'); }

  hasTable(name) {
    if (name === 'classes') return this.header.views.some((v) => v.name !== '*' && v.name !== '') && this.clock.slices > 0;
    if (name === 'calls') return this.header.times && Boolean(document.documentElement.dataset.source);
    if (name === 'source') return 'lines' in document.documentElement.dataset;
    return name === 'functions' || name === 'about' || name in this.header.tables;
  }

  viewNamed(name) { return this.header.views.some((v) => v.name === name); }

  // sums returns what the portions of a side got in a span. It keeps those of the last two spans, and of the whole.
  sums(side, from, to) {
    const key = `${from} ${to}`;
    if (!this.summed.has(side)) this.summed.set(side, new Map());
    const kept = this.summed.get(side);
    if (!kept.has(key)) {
      for (const old of kept.keys()) if (kept.size > 2 && old !== `0 ${this.end}`) kept.delete(old);
      kept.set(key, sumUp(side, this.clock, from, to));
    }
    return kept.get(key);
  }

  // view returns a view with the selected span.
  view(i) {
    const v = this.views[i] ??= new View(this, i);
    if (v.from !== this.span[0] || v.to !== this.span[1]) v.select(...this.span);
    return v;
  }

  // openView shows a view by its name, and zooms to a path of functions in it, or to the path that has a mark.
  openView(name, path = [], mark = null) {
    const i = this.header.views.findIndex((v) => v.name === name);
    $('view').value = i;
    this.current = this.view(i);
    this.calls = new CallGraph(this.current);
    this.graph.show(this.calls);
    this.showHeat();
    let at = mark ? this.current.findMark(mark) : undefined;
    for (let n = path.length; n > 0 && at === undefined; n--) at = this.current.find(path.slice(0, n));
    if (at !== undefined) this.graph.zoom(at);
    this.changed();
  }

  zoomed() { return this.graph.calls === this.calls ? this.graph.focus : this.current.top; }

  showHeat() {
    if (this.clock.slices > 1) this.heat.show(this.current, Number($('typed').value));
  }

  // select shows the slices [from, to) only.
  select(span) {
    if (this.pending) this.pending = span;
    else {
      this.pending = span;
      requestAnimationFrame(() => { // at most once a frame, while a span is drawn
        this.span = this.pending;
        this.pending = null;
        this.current = this.view(this.views.indexOf(this.current));
        this.graph.refresh();
        this.changed();
      });
    }
  }

  selectTime(from, to) { this.heat.chooseTime(from, to); }

  // callers shows who calls a function, or nothing of that.
  callers(f) {
    if (f === undefined) {
      if (this.graph.calls === this.calls) return;
      this.graph.upwards = $('upwards').checked;
      this.graph.show(this.calls);
    } else {
      const wanted = (g) => g === f;
      this.graph.show(new CallerGraph(this.current, wanted, this.trees[0].frames[f]));
    }
    this.changed();
  }

  // searched returns which frames match what is searched for; null if nothing is.
  searched() {
    const text = $('search').value.trim();
    if (!text) return null;
    let matches = (name) => name.toLowerCase().includes(text.toLowerCase());
    if (/[\\^$|*+?{}[\]]/.test(text)) {
      try {
        const pattern = new RegExp(text, 'i');
        matches = (name) => pattern.test(name);
      } catch { /* not yet a whole pattern: as it is */ }
    }
    return this.header.frames.map(matches);
  }

  search() {
    this.graph.match = this.searched();
    this.graph.draw();
    this.changed();
  }

  // found describes what is searched for.
  found() {
    const wanted = this.graph.match;
    if (!wanted) return '';
    const nodes = [];
    this.current.outermost((f) => wanted[f], (n) => nodes.push(n));
    if (!nodes.length) return 'no match';
    const e = this.current.exact(nodes);
    return `matched ${e.cost.decimal(3)}: ${this.amount(e.weight)}${this.header.counted ? `, ${hitsText(e.hits)} hits` : ''}`;
  }

  // nextMatch selects the next node that matches, from the selected one on.
  nextMatch() {
    const {graph} = this, {tree, top, width} = graph.calls;
    if (!graph.match) return;
    const size = tree.end[top] - top;
    for (let i = 1; i <= size; i++) {
      const n = top + (graph.selected - top + i) % size;
      if (tree.fn[n] >= 0 && graph.match[tree.fn[n]] && width[n] > 0) {
        graph.zoom(n);
        return this.changed();
      }
    }
  }

  amount(weight) { return amountText(weight.value, this.header.unit); }

  // describe returns all numbers of a node.
  describe(n) {
    const {calls} = this.graph, e = this.current.exact(calls.nodes(n));
    const own = calls === this.calls ? exactly(this.current.tree.side, this.current.sums, [[n, n + 1]]).weight : new Fraction(0n);
    return {
      name: this.graph.name(n), cost: e.cost.decimal(3), own: own.num ? `own ${this.amount(own)}` : '',
      weight: this.amount(e.weight), hits: this.header.counted ? `${hitsText(e.hits)} hits` : '',
      other: e.other ? `${this.header.against}: ${e.other.cost.decimal(3)}, ${this.amount(e.other.weight)}` : '',
      difference: e.other ? `difference ${signed(e.cost.minus(e.other.cost).value)}` : '',
    };
  }

  // changed shows the numbers of what is selected, and tables that depend on it.
  changed() {
    const {graph} = this, d = this.describe(graph.selected), [from, to] = this.span;
    $('name').textContent = d.name;
    $('numbers').textContent = [`cost ${d.cost}`, d.weight, d.hits, d.own, d.other, d.difference].filter(Boolean).join(' · ');
    $('found').textContent = this.found();
    const whole = from === 0 && to === this.end, {clock} = this;
    $('span').textContent = clock.slices < 2 ? '' : whole ? `all ${this.header.samples} samples` :
      `${clockText(clock.at[from])} to ${clockText(clock.at[to - 1])}: ${clock.samples[to] - clock.samples[from]} samples`;
    $('all').hidden = whole;
    $('reset').disabled = graph.focus === graph.calls.top;
    $('callees').hidden = graph.calls === this.calls;
    $('callers').hidden = graph.calls !== this.calls;
    $('graph').setAttribute('aria-label', `${this.current.title}, ${graph.calls === this.calls ? 'calls' : 'callers'}: ${d.name}, cost ${d.cost}`);
    if (['functions', 'classes', 'source'].includes(this.tab)) this.openTab(this.tab);
    this.keep();
  }

  // selectedFunction returns the frame of the selected function, or of the one that a selected typed time or class is in; -1 if none.
  selectedFunction() {
    const {calls, selected} = this.graph, {fn, parent} = calls.tree;
    for (let n = selected; n >= 0; n = parent[n]) if (fn[n] >= 0 && this.frames.kind[fn[n]] === 'function') return fn[n];
    return -1;
  }

  // source returns the source of a function in the view, from the page's server. It keeps what it got last.
  source(name) {
    const query = `?${new URLSearchParams({view: this.current.name, function: name, ...(this.only && {calls: this.only})})}`;
    if (this.listed?.query !== query) {
      const listed = this.listed = {query};
      fetch(document.documentElement.dataset.lines + query).then(async (answer) => {
        if (answer.ok) listed.source = await answer.json();
        else listed.missing = (await answer.text()).trim();
      }).catch((e) => { listed.missing = `The source can't be read: ${e.message}`; }).then(() => {
        if (this.listed === listed && this.tab === 'source') this.openTab('source');
      });
    }
    return this.listed;
  }

  say(text) { $('hint').textContent = text; }

  openTab(name) {
    this.tab = name;
    for (const tab of document.querySelectorAll('[role=tab]')) {
      const on = tab.id === `tab-${name}`;
      tab.setAttribute('aria-selected', on);
      tab.tabIndex = on ? 0 : -1;
    }
    const panel = $('panel'), at = panel.scrollTop;
    panel.setAttribute('aria-labelledby', `tab-${name}`);
    panel.replaceChildren(...tables[name](this).filter(Boolean));
    panel.scrollTop = at;
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    this.dark = theme === 'dark';
    this.graph.draw();
    this.heat.draw();
    this.latency.draw();
    this.tracks.draw();
    if (this.tab) this.openTab(this.tab);
  }

  // zoom makes a node of the graph as wide as it.
  zoom(n) {
    this.graph.zoom(n);
    this.changed();
  }

  wire() {
    const graph = $('graph'), tip = $('tip');
    graph.addEventListener('mousemove', (e) => this.point(e, tip));
    graph.addEventListener('mouseleave', () => { tip.hidden = true; });
    graph.addEventListener('click', (e) => {
      const n = this.graph.at(e.offsetX, e.offsetY);
      if (n !== undefined) this.zoom(n);
    });
    graph.addEventListener('keydown', (e) => this.graphKey(e));
    $('heat').addEventListener('keydown', (e) => { if (this.heat.key(e)) e.preventDefault(); });
    $('latency').addEventListener('keydown', (e) => { if (this.latency.key(e)) e.preventDefault(); });
    $('tracks').addEventListener('keydown', (e) => { if (this.tracks.key(e)) e.preventDefault(); });
    $('tracks-up').addEventListener('click', () => this.tracks.up());
    $('tracks-whole').addEventListener('click', () => this.tracks.show({window: null}));
    $('latency-whole').addEventListener('click', () => this.latency.show(null));
    $('latency-zoom').addEventListener('click', () => this.latency.toChosen());
    for (const name of pictures) $(`show-${name}`).addEventListener('click', () => this.openPicture(name));
    $('function').addEventListener('change', () => {
      const name = $('function').value.trim();
      if (this.picture === 'tracks') {
        this.latency.function = name;
        this.tracks.load();
      } else if (name) this.latency.load(name);
    });
    $('only-all').addEventListener('click', () => this.restrict(''));
    $('view').addEventListener('change', () => this.openView(this.header.views[$('view').value].name));
    $('typed').addEventListener('change', () => { this.showHeat(); this.keep(); });
    $('search').addEventListener('input', () => this.search());
    $('search').addEventListener('keydown', (e) => {
      if (e.key === 'Enter') this.nextMatch();
      if (e.key === 'Escape') { $('search').value = ''; this.search(); graph.focus(); }
    });
    $('upwards').addEventListener('change', () => { this.graph.upwards = $('upwards').checked; this.graph.draw(); this.keep(); });
    $('reset').addEventListener('click', () => this.zoom(this.graph.calls.top));
    $('all').addEventListener('click', () => this.heat.choose(null));
    $('callers').addEventListener('click', () => this.callersOfSelected());
    $('callees').addEventListener('click', () => this.callers());
    $('theme').addEventListener('click', () => this.setTheme(this.dark ? 'light' : 'dark'));
    $('help').addEventListener('click', () => $('keys').showModal());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (e) => this.setTheme(e.matches ? 'dark' : 'light'));
    const tabs = [...document.querySelectorAll('[role=tab]')];
    tabs.forEach((tab) => tab.addEventListener('click', () => { this.openTab(tab.id.slice(4)); this.keep(); }));
    $('tabs').addEventListener('keydown', (e) => {
      const shown = tabs.filter((t) => !t.hidden), by = {ArrowLeft: -1, ArrowRight: 1}[e.key];
      if (!by) return;
      const next = shown[(shown.indexOf(document.activeElement) + by + shown.length) % shown.length];
      next.focus();
      this.openTab(next.id.slice(4));
    });
    document.addEventListener('keydown', (e) => this.key(e));
  }

  // point shows what is under the mouse.
  point(e, tip) {
    const n = this.graph.at(e.offsetX, e.offsetY);
    tip.hidden = n === undefined;
    if (n === undefined) return;
    const d = this.describe(n);
    this.tip(e, d.name, [`cost ${d.cost}`, d.weight, d.hits, d.own, d.other, d.difference]);
  }

  // tip shows lines beside the mouse.
  tip(place, title, lines) {
    const tip = $('tip');
    tip.hidden = false;
    tip.replaceChildren(make('b', {textContent: title}), ...lines.filter(Boolean).map((text) => make('div', {textContent: text})));
    const right = place.clientX + 16 + tip.offsetWidth > innerWidth;
    tip.style.left = `${Math.max(4, right ? place.clientX - tip.offsetWidth - 10 : place.clientX + 16)}px`;
    tip.style.top = `${Math.max(4, Math.min(place.clientY + 18, innerHeight - tip.offsetHeight - 8))}px`;
  }

  callersOfSelected() {
    const {graph} = this, f = graph.calls.tree.fn[graph.selected];
    if (f >= 0) this.callers(f);
  }

  graphKey(e) {
    const {graph} = this;
    if (e.key.startsWith('Arrow')) graph.move(e.key);
    else if (e.key === 'Enter') graph.zoom(graph.selected);
    else if (e.key === 'Backspace') graph.zoom(Math.max(graph.calls.top, graph.calls.tree.parent[graph.focus]));
    else if (e.key === 'Home') graph.zoom(graph.calls.top);
    else return;
    e.preventDefault();
    this.changed();
  }

  // key does what a key does everywhere but in fields.
  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT)$/.test(e.target.tagName) || $('keys').open) return;
    const keys = {
      '/': () => $('search').focus(), '?': () => $('keys').showModal(), c: () => this.callersOfSelected(), v: () => this.callers(),
      i: () => $('upwards').click(), t: () => $({timeline: 'heat', calls: 'latency', tracks: 'tracks'}[this.picture]).focus(), p: () => this.openPicture(pictures[(pictures.indexOf(this.picture) + 1) % pictures.length]), g: () => $('graph').focus(), d: () => $('theme').click(), n: () => this.nextMatch(),
      a: () => this.heat.choose(null), 0: () => this.zoom(this.graph.calls.top),
    };
    const tab = document.querySelectorAll('[role=tab]:not([hidden])')[Number(e.key) - 1];
    if (tab) {
      this.openTab(tab.id.slice(4));
      this.keep();
    } else if (keys[e.key]) keys[e.key]();
    else return;
    e.preventDefault();
  }
}
