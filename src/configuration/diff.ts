import type { ConfigDocument } from './document.ts';
import { pathText } from './problems.ts';
import { MASKED_KEY } from './secrets.ts';

/**
 * What applying `after` would change, one line each, without any key. The order of upstreams and of models means
 * nothing; the order of a model's routes does.
 */
export function diffDocuments(before: ConfigDocument, after: ConfigDocument): readonly string[] {
  return [
    ...diffItems('upstream', before.upstreams, after.upstreams),
    ...diffItems('model', before.models, after.models),
  ];
}

interface Item {
  readonly id: string;
  readonly api_key?: string | undefined;
}

function diffItems(kind: string, before: readonly Item[], after: readonly Item[]): readonly string[] {
  const old = new Map(before.map((item) => [item.id, item]));
  const idsAfter = new Set(after.map(({ id }) => id));
  const lines = after.flatMap((item) => {
    const earlier = old.get(item.id);
    if (earlier === undefined) return [`+ ${kind} ${item.id}`];
    return diffItem(earlier, item).map((change) => `~ ${kind} ${item.id}: ${change}`);
  });
  return [...lines, ...before.filter(({ id }) => !idsAfter.has(id)).map(({ id }) => `- ${kind} ${id}`)];
}

function diffItem({ api_key: oldKey, ...before }: Item, { api_key: newKey, ...after }: Item): readonly string[] {
  const changes = diffValues(before, after, []);
  const isMasked = oldKey !== undefined && newKey === MASKED_KEY;
  return isMasked || oldKey === newKey ? changes : [...changes, `api_key ${keyChange(oldKey, newKey)}`];
}

function keyChange(before: string | undefined, after: string | undefined): string {
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : 'changed';
}

function diffValues(before: unknown, after: unknown, path: readonly (string | number)[]): readonly string[] {
  const [left, right] = [childrenOf(before), childrenOf(after)];
  if (left !== undefined && right !== undefined) {
    const keys = [...new Set([...left.keys(), ...right.keys()])];
    return keys.flatMap((key) => diffValues(left.get(key), right.get(key), [...path, key]));
  }
  const [oldText, newText] = [valueText(before), valueText(after)];
  if (oldText === newText) return [];
  const name = pathText(path);
  if (before === undefined) return [`${name} added ${newText}`];
  return [after === undefined ? `${name} removed, was ${oldText}` : `${name} ${oldText} → ${newText}`];
}

/** Maps and lists of maps are compared part by part; a list of words reads better whole. */
function childrenOf(value: unknown): ReadonlyMap<string | number, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value).filter(([, child]) => child !== undefined));
  const items: readonly unknown[] = value;
  return items.length > 0 && items.every((item) => typeof item === 'object') ? new Map(items.entries()) : undefined;
}

function valueText(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : (JSON.stringify(value) ?? 'nothing');
}
