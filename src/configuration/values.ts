import { JSON_DEPTH_MAX } from '../limits.ts';
import type { Finding, Path } from './problems.ts';

export const TOO_DEEP = `nested deeper than ${JSON_DEPTH_MAX} levels`;

/**
 * What no field may hold, wherever it stands: text that the database cannot store, and the depth and size that
 * aliases can build out of a small document.
 */
export function valueFindings(root: unknown): readonly Finding[] {
  const findings: Finding[] = [];
  const pending: Visit[] = [{ value: root, path: [] }];
  for (let visited = 0; visited < VALUES_MAX; visited++) {
    const visit = pending.pop();
    if (visit === undefined) return findings.reverse();
    const finding = findingOf(visit);
    if (finding !== undefined) findings.push(finding);
    else for (const child of children(visit)) pending.push(child);
  }
  return [{ path: [], problem: `holds more than ${VALUES_MAX} values` }];
}

const VALUES_MAX = 1_000_000;

interface Visit {
  readonly value: unknown;
  readonly path: Path;
}

function findingOf({ value, path }: Visit): Finding | undefined {
  const key = path.at(-1);
  const texts = [key, value].filter((text) => typeof text === 'string');
  if (!texts.every(isStorable)) return { path, problem: 'holds a character that cannot be stored' };
  const tooDeep = typeof value === 'object' && value !== null && path.length >= JSON_DEPTH_MAX;
  return tooDeep ? { path: path.slice(0, 2), problem: TOO_DEEP } : undefined;
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function children({ value, path }: Visit): readonly Visit[] {
  if (Array.isArray(value)) return value.map((item: unknown, index) => ({ value: item, path: [...path, index] }));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([key, item]: [string, unknown]) => ({ value: item, path: [...path, key] }));
}
