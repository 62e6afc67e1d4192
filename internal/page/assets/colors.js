// The colours of frames, in the light and in the dark theme.

// typedHues are the hue and the saturation of each typed time.
const typedHues = [[135, 38], [38, 78], [285, 36], [2, 66], [212, 32]];

// frameColor returns the colour of a frame by its typed time. Frames of one package have the same shade.
function frameColor(typed, kind, pkg, dark) {
  const shade = pkg ? hashOf(pkg) % 9 : 4;
  if (typed < 0) {
    if (kind !== 'function') return dark ? '#4a515c' : '#c3c9d2';
    return `hsl(${(hashOf(pkg) * 47) % 360} ${dark ? '26% 42%' : '42% 76%'})`;
  }
  const [hue, saturation] = typedHues[typed];
  if (kind === 'typed') return `hsl(${hue} ${saturation + 12}% ${dark ? 46 : 56}%)`;
  const light = dark ? 28 + shade : 72 + shade * 1.4;
  return `hsl(${hue} ${saturation * (dark ? 0.75 : 1)}% ${light}%)`;
}

// changeColor returns the colour of a change of costs: red for more, blue for less; of full strength for the greatest change.
function changeColor(change, greatest, dark) {
  const strength = greatest > 0 ? Math.sqrt(Math.min(1, Math.abs(change) / greatest)) : 0;
  if (strength < 0.04) return dark ? '#3b414b' : '#e3e6ea';
  const hue = change > 0 ? 4 : 216;
  return dark ? `hsl(${hue} ${30 + 45 * strength}% ${24 + 24 * strength}%)` : `hsl(${hue} ${40 + 45 * strength}% ${92 - 32 * strength}%)`;
}

function hashOf(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

// typedColor returns the colour of a typed time in the legend and in bars.
function typedColor(t, dark) { return frameColor(t, 'typed', '', dark); }
