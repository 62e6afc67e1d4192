// Canvases.

// context returns the context of a canvas, cleared and of a size in pixels of the page.
function context(canvas, w, h) {
  const ratio = window.devicePixelRatio || 1, g = canvas.getContext('2d');
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
    canvas.style.width = `${w}px`;
    canvas.style.height = `${h}px`;
  }
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  g.font = '11px ui-sans-serif, system-ui, sans-serif';
  g.globalAlpha = 1;
  return g;
}

// A Picture is a canvas that is as large as the box around it. Its draw is called if the box changes.
class Picture {
  constructor(canvas, page, frame = canvas.parentElement) {
    Object.assign(this, {canvas, page, frame});
    new ResizeObserver(() => this.resized()).observe(frame);
  }

  resized() { this.draw(); }

  // begin clears the canvas, and sets this.g, this.w and this.h. It returns false if the picture is not visible.
  begin() {
    const {clientWidth: w, clientHeight: h} = this.frame;
    if (!w || !h) return false;
    Object.assign(this, {w, h, g: context(this.canvas, w, h), dark: this.page.dark});
    return true;
  }

  // wash dims what is not chosen.
  get wash() { return this.dark ? 'rgba(14,17,22,0.62)' : 'rgba(255,255,255,0.66)'; }
  get ink() { return this.dark ? '#ffffff' : '#15181d'; }
  get quiet() { return this.dark ? '#a7afba' : '#59616c'; }

  // axis writes times below a picture, from one to another, between two places.
  axis(start, end, left = 0, right = this.w) {
    const {g} = this, step = roundTime((end - start) / Math.max(2, Math.floor((right - left) / 110)));
    g.fillStyle = this.quiet;
    g.textBaseline = 'bottom';
    for (let at = Math.ceil(start / step) * step; at <= end; at += step) {
      const text = clockText(at, step), x = left + (right - left) * (at - start) / (end - start), wide = g.measureText(text).width;
      g.fillText(text, Math.max(left, Math.min(right - wide, x - wide / 2)), this.h);
    }
  }
}

// roundTime returns a round time that is at least so long.
function roundTime(least) {
  const size = 10 ** Math.floor(Math.log10(least)), minutes = [3e10, 6e10, 12e10, 3e11, 6e11, 18e11, 36e11].find((t) => t >= least);
  return least > 2e10 && minutes || size * [1, 2, 5, 10].find((n) => n * size >= least);
}

// shade returns a colour of a hue: pale for 0, full for a strength of 1.
function shade(hue, saturation, strength, dark) {
  return dark ? `hsl(${hue} ${saturation * (0.3 + strength * 0.7)}% ${15 + 45 * strength}%)` : `hsl(${hue} ${saturation}% ${96 - 56 * strength}%)`;
}
