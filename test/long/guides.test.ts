import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { parse } from 'yaml';
import { ROOT, readDocument } from '../support/manual.ts';
import { blocksOf, Newcomer } from '../support/newcomer.ts';

// The guides and docs/clients.md as a reader follows them, beside a gateway that `npm start` started: every command and
// program as it stands there, every configuration held to what reads it.

const GUIDES = readdirSync(join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`);
const CLIENTS = 'docs/clients.md';
const RUN = new Set(['sh', 'ts', 'yaml', 'json', 'toml', 'text']);

interface OpenApiPath {
  readonly post?: { readonly requestBody?: { readonly content: Record<string, { readonly example?: object }> } };
}

let newcomer: Newcomer;

before(async () => {
  // The documents make more requests in a minute than a key may by default, and their programs follow links.
  newcomer = await Newcomer.start((origin) => ({ TOLLGATE_RPM: '6000', PUBLIC_URL: origin }));
});

after(() => newcomer.stop());

for (const document of [...GUIDES, CLIENTS]) {
  const commands = blocksOf(document, 'sh');
  if (commands.length > 0) {
    test(`the commands of ${document} run as they stand there, one after the other`, async () => {
      const { output, code } = await newcomer.shell(commands.join('\n'));
      assert.equal(code, 0, output);
      assert.doesNotMatch(output, /"error":\{/);
    });
  }
  for (const [index, program] of blocksOf(document, 'ts').entries()) {
    test(`program ${index + 1} of ${document} runs as it stands there`, async () => {
      const { output, code } = await newcomer.program(program);
      assert.equal(code, 0, output);
    });
  }
}

for (const document of GUIDES) {
  for (const [index, configuration] of blocksOf(document, 'yaml').entries()) {
    test(`configuration ${index + 1} of ${document} can be applied`, async () => {
      await writeFile(join(newcomer.folder, 'guide.yaml'), configuration);
      const { output, code } = await newcomer.shell('bin/tollgate.mjs config check guide.yaml');
      assert.equal(code, 0, output);
    });
  }
}

test('every example in /openapi.json is a request that its route takes', async () => {
  const bearers = {
    operator: readFileSync(join(newcomer.folder, 'data/admin-token'), 'utf8').trim(),
    key: /export TOLLGATE_KEY=(\S+)/.exec(newcomer.printed)?.[1] ?? '',
  };
  const send = async (method: string, path: string, body?: object) => {
    const bearer = path.startsWith('/api/admin/') ? bearers.operator : bearers.key;
    const answer = await request(newcomer.origin + path, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream, */*',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const { paths } = JSON.parse((await send('GET', '/openapi.json')).text) as { paths: Record<string, OpenApiPath> };
  const { id } = JSON.parse((await send('POST', '/api/admin/accounts', { name: 'reader' })).text) as { id: string };
  let count = 0;
  for (const [path, { post }] of Object.entries(paths)) {
    const { example } = Object.values(post?.requestBody?.content ?? {})[0] ?? {};
    // A person at the console sends the same to the same routes.
    if (example === undefined || path.startsWith('/api/console/')) continue;
    const url = path.replace('{account_id}', id).replace('{model}:{action}', 'sandbox/native:generateContent');
    const { status, text } = await send('POST', url, example);
    assert.ok(status === 200 || status === 202, `${path}: ${status} ${text}`);
    count++;
  }
  assert.ok(count > 15);
});

test('every block of the guides is of a language that is run or read here', () => {
  for (const document of [...GUIDES, CLIENTS]) {
    for (const [, language = ''] of readDocument(document).matchAll(/^```(\w*)\n.*?^```$/gms)) {
      assert.ok(RUN.has(language), `${document} has a block of ${language}`);
    }
  }
});

test('the settings in docs/clients.md can be read, and name this gateway', () => {
  const settings = [
    ...blocksOf(CLIENTS, 'json').map((text) => JSON.stringify(JSON.parse(text))),
    ...blocksOf(CLIENTS, 'yaml').map((text) => JSON.stringify(parse(text))),
    ...blocksOf(CLIENTS, 'toml'),
  ];
  for (const text of settings) assert.match(text, /http:\/\/127\.0\.0\.1:8787\/v1/);
});

test('every call that docs/clients.md names is a route', async () => {
  const calls = new Set(
    [...readDocument(CLIENTS).matchAll(/`(GET|POST) (\/[^`\s]+)`/g)].map(([, ...call]) => call.join(' ')),
  );
  assert.ok(calls.size > 6);
  for (const call of calls) {
    const [method = '', path = ''] = call.split(' ');
    const answer = await request(newcomer.origin + path, { method });
    // Without a key a route asks for one; what is no route is not there.
    const { error } = (await answer.body.json()) as { error: { code?: string; type: string } };
    assert.equal(answer.statusCode, 401, `${call}: ${JSON.stringify(error)}`);
  }
});
