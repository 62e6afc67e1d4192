// The tables beside the graph. All text is set as text, never as markup.

// make returns an element with properties and children.
function make(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(properties)) {
    if (k in e) e[k] = v; else e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

// share writes a share of 1 as a percentage.
function share(x) { return `${(100 * x).toFixed(x > 0 && x < 0.0995 ? 1 : 0)} %`; }

// bar returns a bar of the shares of the typed times.
function bar(shares, dark) {
  const e = make('span', {className: 'bar', role: 'img', ariaLabel: shares.map((s, t) => s > 0.005 ? `${typedNames[t]} ${share(s)}` : '').filter(Boolean).join(', ')});
  e.title = e.ariaLabel;
  shares.forEach((s, t) => {
    const part = make('span');
    part.style.width = `${100 * s}%`;
    part.style.background = typedColor(t, dark);
    e.append(part);
  });
  return e;
}

// A table with heads; those of numbers are on the right.
function table(label, heads, rows) {
  return make('table', {ariaLabel: label},
    make('thead', {}, make('tr', {}, ...heads.map((h) => make('th', {scope: 'col', className: h.number ? 'number' : '', textContent: h.text ?? h})))),
    make('tbody', {}, ...rows));
}

const number = (text) => ({text, number: true});

// functionCosts returns the costs of functions in a view, own and with calls, as fractions of the whole.
function functionCosts(page, sums, whole) {
  const {tree, top} = page.current, {fn, end} = tree, own = new Map(), cum = new Map(), on = new Int32Array(tree.frames.length);
  const stack = [], owner = new Int32Array(tree.nodes), all = whole.weight.value || 1;
  for (let n = top; n < end[top]; n++) {
    while (stack.length && end[stack[stack.length - 1]] <= n) on[fn[stack.pop()]]--;
    const f = fn[n], real = page.frames.kind[f] === 'function';
    owner[n] = real || n === top ? n : page.frames.kind[f] === 'class' ? n : owner[tree.parent[n]];
    if (real && !on[f]) cum.set(f, (cum.get(f) ?? 0) + sums.cum[n] / all);
    const o = fn[owner[n]];
    if (page.frames.kind[o] === 'function') own.set(o, (own.get(o) ?? 0) + sums.own[n] / all);
    on[f]++;
    stack.push(n);
  }
  return {own, cum};
}

// breakable returns a name that a narrow table breaks behind a slash, a dot or a parenthesis, not in the middle of a word.
function breakable(name) { return name.split(/(?<=[/)])|(?<=\.)(?=\D)/).flatMap((part, i) => i ? [document.createElement('wbr'), part] : [part]); }

// link returns a button that looks like a name.
function link(text, open, title = '') { return make('button', {className: 'link', title, onclick: open}, ...breakable(text)); }

const tables = {
  // Findings: what is slow, and why, in the whole recording.
  findings(page) {
    const t = page.header.tables.findings, items = t.findings.map((f) => make('li', {},
      make('p', {className: 'sentence', textContent: f.lines[0]}),
      make('dl', {}, ...f.lines.slice(1).flatMap((line) => {
        const [, name = '', text = line] = /^([a-z]+) {2}(.*)$/s.exec(line) ?? [];
        return [make('dt', {textContent: name}), make('dd', {className: name === 'see' ? 'command' : '', textContent: text})];
      })),
      make('p', {className: 'actions'},
        page.viewNamed(f.view) ? link('show it', () => page.openView(f.view, f.path)) : null,
        ...f.spans.map((s) => link(`${clockText(s.from)} – ${clockText(s.to)}`, () => page.selectTime(s.from, s.to), 'select this span'))),
    ));
    return [t.verdict ? make('p', {textContent: t.verdict}) : null, make('ol', {className: 'findings'}, ...items)];
  },

  // Classes: the typed times of each, in the selected span.
  classes(page) {
    const rows = page.header.views.map((v, i) => ({v, i})).filter(({v}) => v.name !== '*' && v.name !== '').map(({v, i}) => {
      const view = page.view(i), parts = view.typedParts(), whole = view.whole;
      const shares = parts.map((p) => p.weight.over(whole.weight).value), idle = view.idle();
      return {view, i, parts, shares, whole, idle: idle.weight.over(idle.weight.plus(whole.weight)).value};
    });
    return [table('thread classes', ['class', 'typed time', number('time'), number('hits'), number('idle')], rows.map((r) => make('tr', {},
      make('td', {}, link(r.view.name, () => page.openView(r.view.name))),
      make('td', {}, bar(r.shares, page.dark)),
      make('td', {className: 'number', textContent: timeText(r.whole.weight.value)}),
      make('td', {className: 'number', textContent: hitsText(r.whole.hits)}),
      make('td', {className: 'number', textContent: share(r.idle)}),
    )))];
  },

  // Functions of the view that is shown, in the selected span; in a comparison, with how they differ from the other recording.
  functions(page) {
    const {tree, now, other, whole, otherWhole} = page.current, wanted = page.searched();
    const sides = [functionCosts(page, now, whole)];
    if (other) sides.push(functionCosts(page, other, otherWhole));
    const list = [...new Set(sides.flatMap((s) => [...s.cum.keys()]))].filter((f) => !wanted || wanted[f]).map((f) => {
      const [own, cum] = ['own', 'cum'].map((k) => sides.map((s) => s[k].get(f) ?? 0));
      return {f, own, cum, by: Math.abs(own[0] - (own[1] ?? 0)), then: Math.abs(cum[0] - (cum[1] ?? 0))};
    }).filter((r) => r.cum.some((c) => c > 0)).sort((a, b) => b.by - a.by || b.then - a.then);
    const cells = (costs) => (other ? [costs[0].toFixed(3), signed(costs[0] - costs[1])] : [costs[0].toFixed(3)]).map((textContent) => make('td', {className: 'number', textContent}));
    const difference = other ? [number('change')] : [];
    return [
      other ? make('p', {className: 'quiet', textContent: `old is ${page.header.against}, new is ${page.header.name}`}) : null,
      table('functions', ['function', number('own'), ...difference, number('with calls'), ...difference], list.slice(0, 300).map(({f, own, cum}) => make('tr', {},
        make('td', {}, link(tree.frames[f], () => page.callers(f), 'show who calls it')), ...cells(own), ...cells(cum)))),
    ].filter(Boolean);
  },

  // Calls of a function: the slow ones beside the rest.
  calls: callsTable,

  // Locks: who waited, and who held them, in the whole recording.
  locks(page) {
    const t = page.header.tables.locks;
    if (!t.locks.length) return [make('p', {textContent: 'No goroutine waited for a lock.'})];
    const parts = (heading, list, waited) => list.length ? [make('h4', {textContent: heading}), table(heading, ['class', list.some((p) => p.in) ? 'function' : '', number('time'), number('hits')], list.map((p) => make('tr', {},
      make('td', {}, page.viewNamed(p.class) ? link(p.class, () => page.openView(p.class)) : make('span', {}, ...breakable(p.class))),
      make('td', {}, ...breakable(p.in)),
      make('td', {className: 'number', textContent: `${timeText(p.time_ns)} (${share(waited ? p.time_ns / waited : 0)})`}),
      make('td', {className: 'number', textContent: p.hits}))))] : [];
    return [
      t.deadlocks ? make('p', {className: 'warning', textContent: `${t.deadlocks} deadlocks: see 'cpprof locks'`}) : null,
      ...t.locks.map((l, i) => make('details', {open: i === 0},
        make('summary', {}, make('b', {textContent: l.lock}), ` ${l.type || (l.shared ? 'used as a lock' : '')} `,
          make('span', {className: 'quiet', textContent: `waited ${timeText(l.waited_ns)}, ${l.mean.toFixed(2)} goroutines on average, holder: ${l.holder}`})),
        ...parts('waited', l.waiters, l.waited_ns), ...parts('held by', l.holders, l.waited_ns), ...parts('may be held by', l.may_hold, l.waited_ns),
        ...(l.paths.length ? [make('h4', {textContent: 'what the holders did'}), make('ul', {className: 'paths'}, ...l.paths.map((p) => make('li', {},
          make('b', {textContent: share(p.time_ns / (l.waited_ns || 1))}), ` ${p.frames.join(' › ')}`)))] : []))),
      t.more ? make('p', {className: 'quiet', textContent: `${t.more} more locks are left out.`}) : null,
    ];
  },

  // Source: the lines of the selected function, with the hits of each in the whole view.
  source(page) {
    const f = page.selectedFunction();
    if (f < 0) return [make('p', {textContent: 'Select a function in the graph.'})];
    const name = page.header.frames[f], {source, missing = 'counting hits by line …'} = page.source(name), title = make('h3', {}, ...breakable(name));
    if (!source) return [title, make('p', {className: 'quiet', textContent: missing})];
    const rows = (source.lines ?? []).flatMap((l) => [
      l.skipped ? make('tr', {className: 'quiet'}, make('td', {className: 'number', colSpan: 2, textContent: '⋮'}), make('td')) : null,
      make('tr', {className: l.hits ? `heat${l.heat}` : ''}, make('td', {className: 'number', textContent: l.hits ?? ''}),
        make('td', {className: 'number quiet'}, source.file ? make('a', {textContent: l.number, title: 'open in VS Code', href: `vscode://file${encodeURI(source.file).replace(/[?#]/g, encodeURIComponent)}:${l.number}`}) : `${l.number}`), make('td', {}, make('code', {textContent: l.text}))),
    ].filter(Boolean));
    return [title, make('p', {className: 'quiet'}, ...breakable([source.place, source.missing, 'hits by line, in the whole view'].filter(Boolean).join('; '))),
      rows.length ? make('table', {className: 'source', ariaLabel: `source of ${name}`}, make('tbody', {}, ...rows)) : make('p', {textContent: 'No line of it was hit.'})];
  },

  // Metrics: what was measured beside the samples.
  metrics(page) {
    const t = page.header.tables.metrics;
    if (!t.metrics.length) return [make('p', {textContent: 'Nothing was measured beside the samples.'})];
    return t.metrics.map((m) => {
      const known = m.values.filter((v) => v !== null), least = Math.min(...known), most = Math.max(...known);
      const canvas = make('canvas', {className: 'line', role: 'img', ariaLabel: `${m.name} over time`});
      requestAnimationFrame(() => line(canvas, m.values, least, most, page.dark));
      const unit = m.unit === 'ns' ? 'nanoseconds' : m.unit, text = (v) => m.words ? m.words[v] : amountText(v, unit) + (m.rate ? '/s' : '');
      return make('div', {className: 'metric'}, make('div', {}, make('b', {textContent: m.name}),
        make('span', {className: 'quiet', textContent: known.length ? ` ${text(least)} … ${text(most)}` : ' not measured'})), canvas);
    });
  },

  // About: what was recorded.
  about(page) {
    return [make('pre', {}, ...(page.header.tables.info?.text ?? page.header.title).split('\n').map((textContent) => make('div', {textContent}))),
      page.header.rounded ? make('p', {textContent: `${page.header.rounded} shares of hits were rounded to parts of 2^-30.`}) : null,
      page.header.each > 1 ? make('p', {textContent: `${page.header.each} samples each are taken together in the timeline.`}) : null,
      make('ul', {}, ...page.header.warnings.map((w) => make('li', {className: 'warning', textContent: w})))];
  },
};

// line draws a series of values.
function line(canvas, values, least, most, dark) {
  const w = canvas.clientWidth, h = canvas.clientHeight, g = context(canvas, w, h);
  g.fillStyle = dark ? '#6b9bd1' : '#4475ab';
  values.forEach((v, i) => {
    if (v === null) return;
    const tall = most > least ? 1 + (v - least) / (most - least) * (h - 2) : h / 2;
    g.fillRect(i * w / values.length, h - tall, Math.max(1, w / values.length - 0.2), tall);
  });
}
