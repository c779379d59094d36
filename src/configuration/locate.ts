import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from 'yaml';
import type { Path } from './problems.ts';

/** Where the key or list item that a path names begins, or the closest thing around it that is there. */
export function offsetOfPath(document: Document, path: Path): number {
  let place: Place = { mark: document.contents, value: document.contents };
  for (const segment of path) {
    const child = childOf(isAlias(place.value) ? place.value.resolve(document) : place.value, segment);
    if (child === undefined) break;
    place = child;
  }
  return offsetOf(place.mark);
}

export function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

/** `mark` is what a reader should look at: the key of a value that has one. */
interface Place {
  readonly mark: unknown;
  readonly value: unknown;
}

function childOf(parent: unknown, segment: PropertyKey): Place | undefined {
  if (isSeq(parent) && typeof segment === 'number') {
    const item = parent.items[segment];
    return item === undefined ? undefined : { mark: item, value: item };
  }
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find(({ key }) => isScalar(key) && key.value === segment);
  return pair === undefined ? undefined : { mark: pair.key, value: pair.value };
}
