import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Gateway } from './support/gateway.ts';

interface Operation {
  readonly tags: readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> };
}

let gateway: Gateway;
let operations: { method: string; path: string; operation: Operation }[];
let tags: string[];

before(async () => {
  gateway = await Gateway.start();
  const { json } = await gateway.call('GET', '/openapi.json');
  tags = json.tags.map(({ name }: { name: string }) => name);
  operations = Object.entries<Record<string, Operation>>(json.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
});
after(() => gateway.stop());

test('every route has a tag that the document describes, and no tag is without a route', () => {
  const used = new Set(operations.flatMap(({ operation }) => operation.tags));
  assert.deepEqual([...used].toSorted(), tags.toSorted());
});

/** Create calls whose body is a file or needs one that can be fetched: an example would be no request. */
const WITHOUT_EXAMPLE = [
  '/v1/audio/transcriptions',
  '/v1/files',
  '/openai/v1/audio/transcriptions',
  '/openai/v1/audio/translations',
  '/openai/v1/files',
];

test('every create call of a caller has an example', () => {
  const without = operations
    .filter(({ method, path }) => method === 'POST' && /^\/(v1|v1beta|openai|mcp)\b/.test(path))
    .filter(({ operation }) => exampleOf(operation) === undefined)
    .map(({ path }) => path);
  assert.deepEqual(without.toSorted(), WITHOUT_EXAMPLE.toSorted());
});

// test/long/guides.test.ts sends every example to a gateway with the sandbox.

function exampleOf({ requestBody }: Operation): object | undefined {
  return Object.values(requestBody?.content ?? {}).find(({ example }) => example !== undefined)?.example;
}
