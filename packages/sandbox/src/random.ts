import { createHash } from 'node:crypto';

/** A number from 0 up to 1, the next of a series that its seed decides. */
export type Random = () => number;

/** Numbers that look random and are decided by the seed (mulberry32). */
export function seriesOf(seed: string): Random {
  let state = Number.parseInt(digest(seed).slice(0, 8), 16);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of several, as the series decides. */
export function pick<Item>(items: readonly [Item, ...Item[]], random: Random): Item {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
