const MS_BY_MODE = [
  [10, 20, 40, 60], // speech
  [10, 20], // both
  [2.5, 5, 10, 20], // music
];

/** The samples, of 48 000 a second, in the Opus packet that begins here; 0 if it has no first byte. */
export function opusSamples(view: Buffer, at: number): number {
  const first = view[at];
  if (first === undefined) return 0;
  const setting = first >>> 3;
  const table = MS_BY_MODE[setting < 12 ? 0 : setting < 16 ? 1 : 2] ?? [];
  const ms = table[setting % table.length] ?? 0;
  const count = first & 3;
  const frames = count === 0 ? 1 : count < 3 ? 2 : (view[at + 1] ?? 0) & 0x3f;
  return ms * 48 * frames;
}
