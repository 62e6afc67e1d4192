// Exact numbers: fractions of BigInts, and how reports write them.

// A Fraction is num/den; den is above 0.
class Fraction {
  constructor(num, den = 1n) { this.num = num; this.den = den; }
  plus(other) { return new Fraction(this.num * other.den + other.num * this.den, this.den * other.den).reduced(); }
  minus(other) { return this.plus(new Fraction(-other.num, other.den)); }
  over(other) { return other.num === 0n ? new Fraction(0n) : new Fraction(this.num * other.den, this.den * other.num); }
  reduced() {
    let a = this.num < 0n ? -this.num : this.num, b = this.den;
    while (b) [a, b] = [b, a % b];
    return a > 1n ? new Fraction(this.num / a, this.den / a) : this;
  }
  // rounded returns the nearest whole number; of two, the one farther from 0.
  rounded() {
    const size = this.num < 0n ? -this.num : this.num;
    const n = (2n * size + this.den) / (2n * this.den);
    return this.num < 0n ? -n : n;
  }
  // decimal returns the number with so many decimals: "0.250".
  decimal(places) {
    const n = new Fraction(this.num * 10n ** BigInt(places), this.den).rounded();
    const digits = (n < 0n ? -n : n).toString().padStart(places + 1, '0');
    const text = places ? digits.slice(0, -places) + '.' + digits.slice(-places) : digits;
    return n < 0n ? '-' + text : text;
  }
  toString() { const r = this.reduced(); return r.den === 1n ? String(r.num) : `${r.num}/${r.den}`; }
  get value() { return Number(this.num) / Number(this.den); }
}

// signed writes a difference of costs with its sign, unless it is rounded to 0.
function signed(difference) {
  const text = difference.toFixed(3);
  return /[1-9]/.test(text) ? (difference > 0 ? '+' : '') + text : '0.000';
}

// grouped writes a whole number with thin spaces between groups of three digits.
function grouped(n) { return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f'); }

// several returns a number of things in words.
function several(n, thing) { return `${grouped(n)} ${thing}${n === 1 ? '' : 's'}`; }

// hitsText writes hits as reports do: whole numbers as they are, others with one decimal.
function hitsText(hits) {
  const h = hits.reduced();
  return h.den === 1n ? grouped(h.num) : h.decimal(1);
}

// timeText writes nanoseconds with a few digits: "50.1 s".
function timeText(ns) {
  const size = Math.abs(ns);
  if (size >= 100e9) return `${(ns / 1e9).toFixed(0)} s`;
  if (size >= 1e9) return `${(ns / 1e9).toFixed(1)} s`;
  if (size >= 1e6) return `${(ns / 1e6).toFixed(2)} ms`;
  return `${(ns / 1e3).toFixed(1)} µs`;
}

// amountText writes a weight with its unit.
function amountText(x, unit) {
  if (unit === 'nanoseconds') return timeText(x);
  if (unit === 'bytes') {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let i = 0;
    for (; Math.abs(x) >= 1024 && i < units.length - 1; i++) x /= 1024;
    return `${i ? x.toFixed(1) : Math.round(x)} ${units[i]}`;
  }
  const text = Math.abs(x) >= 1e6 || Number.isInteger(x) ? grouped(Math.round(x)) : Number(x.toPrecision(4)).toString();
  return unit && unit !== 'count' ? `${text} ${unit}` : text;
}

// lengthText writes a length with three digits: "1.26 ms".
function lengthText(ns) {
  const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']], [size, unit] = units.find(([u]) => ns >= u * 0.9995) ?? units[3];
  const x = ns / size;
  return `${x >= 100 ? Math.round(x) : Number(x.toPrecision(3))} ${unit}`;
}

// clockText writes an offset from the start of the recording, with as many digits as a step of time needs.
function clockText(ns, step = 1e8) {
  const s = ns / 1e9, places = Math.max(s >= 60 ? 1 : 2, Math.min(9, Math.ceil(-Math.log10(step / 1e9)) + (step < 1e7 ? 1 : 0)));
  return s >= 60 ? `${Math.floor(s / 60)}:${(s % 60).toFixed(places).padStart(3 + places, '0')}` : `${s.toFixed(places)} s`;
}
