import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { GuardedFetch, type Resolver } from '../src/fetch/index.ts';
import { FETCH_ADDRESSES_MAX, FETCH_REDIRECTS_MAX } from '../src/limits.ts';
import { selfSigned } from './support/certificate.ts';
import { assertTold, countdown, FetchTarget, fetcher, fetchText, giving } from './support/fetch-target.ts';
import { REFUSED_URLS } from './support/refused-addresses.ts';

const run = promisify(execFile);

/** Answers each lookup with the next of these, and remembers what it was asked. */
function answering(...answers: readonly (readonly string[])[]): Resolver & { asked: string[] } {
  const asked: string[] = [];
  const resolve = async (hostname: string) => answers[asked.push(hostname) - 1] ?? answers.at(-1) ?? [];
  return Object.assign(resolve, { asked });
}

/** Redirects to whatever is behind `/?`, with this status. */
function redirecting(status = 302): Promise<FetchTarget> {
  return FetchTarget.start((request, response) => {
    const location = decodeURIComponent(request.url?.slice(2) ?? '');
    response.writeHead(status, { location }).end('elsewhere');
  });
}

test('an allowed address is fetched, whole and as it was sent', async () => {
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
  using target = await FetchTarget.start(giving(bytes));
  const { url, body } = await fetcher().open(target.at('MEDIA.test', '/a b?c=d'), { bytesMax: 300_000 });
  const pieces = await Array.fromAsync(body);
  assert.ok(Buffer.concat(pieces).equals(bytes));
  assert.equal(url, target.at('media.test', '/a%20b?c=d'));
  assert.equal(target.requests[0]?.url, '/a%20b?c=d');
});

test('R-293 nothing of a caller and no credential is sent', async () => {
  using target = await FetchTarget.start(giving('x'));
  await fetchText(fetcher(), target.at('media.test'));
  assert.deepEqual(target.requests[0]?.headers, {
    host: `media.test:${target.port}`,
    connection: 'close',
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'tollgate',
  });
});

test('R-293 the proxy of the environment is not asked, although another fetch in the same program asks it', async () => {
  using target = await FetchTarget.start(giving('direct'));
  using proxy = await FetchTarget.start(giving('by proxy'));
  const program = `
    import { fetcher, fetchText } from ${JSON.stringify(import.meta.resolve('./support/fetch-target.ts'))};
    const url = 'http://127.0.0.1:${target.port}/';
    console.log(await (await fetch(url)).text(), '/', await fetchText(fetcher({ allow: ['127.0.0.1'] }), url));
  `;
  const address = `http://127.0.0.1:${proxy.port}`;
  const proxies = { http_proxy: address, HTTP_PROXY: address, all_proxy: address, NODE_USE_ENV_PROXY: '1' };
  const env = { ...process.env, no_proxy: '', NO_PROXY: '', ...proxies };
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { env });
  assert.equal(stdout, 'by proxy / direct\n');
});

test('R-293 a cookie that was set is not sent to the next hop', async () => {
  using target = await FetchTarget.start((request, response) => {
    if (request.url === '/last') response.end('x');
    else response.writeHead(302, { 'set-cookie': 'a=b', location: '/last' }).end();
  });
  await fetchText(fetcher(), target.at('media.test'));
  assert.deepEqual(
    target.requests.map(({ headers }) => headers.cookie),
    [undefined, undefined],
  );
});

test('R-289 a name is resolved once, and the connection goes to the address that it had then', async () => {
  using target = await FetchTarget.start(giving('first'));
  using other = await FetchTarget.start(giving('second'), { host: '::1' });
  const resolve = answering(['127.0.0.1'], ['::1']);
  const fetch = fetcher({ resolve });
  assert.equal(await fetchText(fetch, target.at('media.test')), 'first');
  assert.deepEqual(resolve.asked, ['media.test']);
  // The other address answers too, as soon as a fetch of its own has found it.
  assert.equal(await fetchText(fetch, other.at('media.test')), 'second');
});

test('R-289 a name that was fetched from is judged anew when its address has changed', async () => {
  using target = await FetchTarget.start((_request, response) => {
    response.writeHead(302, { location: target.at('rebound.test') }).end();
  });
  const resolve = answering(['127.0.0.1'], ['127.0.0.1']);
  const fetch = fetcher({ resolve });
  await assertTold(fetch.open(target.at('media.test'), { bytesMax: 1 }), 'invalid_media_url');
  assert.deepEqual(resolve.asked, ['media.test', 'rebound.test']);
  assert.equal(target.connections, 1);
});

const PUBLIC = ['93.184.215.14', '2606:4700::1111'];
const PRIVATE = ['127.0.0.1', '::1', '10.0.0.1', '::ffff:127.0.0.1', 'fe80::1', 'fe80::1%eth0', '64:ff9b::7f00:1'];

test('R-289 a name with one private address among its addresses is refused, wherever that stands', async () => {
  using target = await FetchTarget.start(giving('secret'), { host: '::' });
  for (const address of [...PRIVATE, '2606:4700::1111%lo', '2606:4700::1111%25lo', 'not an address', '']) {
    for (const answer of [
      [address],
      [address, ...PUBLIC],
      [...PUBLIC, address],
      ['93.184.215.14', address, '1.1.1.1'],
    ]) {
      const fetch = fetcher({ allow: [], resolve: async () => answer });
      await assertTold(fetch.open(target.at('mixed.test'), { bytesMax: 100 }), 'invalid_media_url', answer.join());
    }
  }
  assert.equal(target.connections, 0);
});

test('R-294 a name that cannot be resolved, or has no address, is one that cannot be fetched', async () => {
  const failing: Resolver = () =>
    Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
  for (const resolve of [failing, async () => []]) {
    for (const allow of [[], ['media.test']]) {
      await assertTold(fetcher({ allow, resolve }).open('http://media.test/', { bytesMax: 1 }), 'invalid_input_url');
    }
  }
});

test('the system resolves names when nobody else does', async () => {
  using target = await FetchTarget.start(giving('x'));
  const log = pino({ level: 'silent' });
  assert.equal(await fetchText(new GuardedFetch({ allow: ['localhost'], log }), target.at('localhost')), 'x');
});

test('an address that does not answer is followed by the next one, up to a bound', async () => {
  using target = await FetchTarget.start(giving('x'));
  const dead = Array.from({ length: FETCH_ADDRESSES_MAX }, (_, at) => `127.0.0.${at + 2}`);
  const enough = fetcher({ resolve: async () => [...dead.slice(1), '127.0.0.1'] });
  assert.equal(await fetchText(enough, target.at('media.test')), 'x');
  const tooMany = fetcher({ resolve: async () => [...dead, '127.0.0.1'] });
  await assertTold(tooMany.open(target.at('media.test'), { bytesMax: 1 }), 'invalid_input_url');
  assert.equal(target.connections, 1);
});

test('R-289 a connection that led to another address than the one asked for is not used', async () => {
  using target = await FetchTarget.start(giving('secret'));
  // The unspecified address leads to this machine, whose own address is another.
  const fetch = fetcher({ resolve: async () => ['0.0.0.0'] });
  await assertTold(fetch.open(target.at('media.test'), { bytesMax: 100 }), 'invalid_media_url');
  assert.equal(target.requests.length, 0);
});

test('R-286 a redirect to any refused URL is refused with that URL’s code, and nothing is connected to', async () => {
  using target = await redirecting();
  const resolve = answering(['127.0.0.1']);
  const fetch = fetcher({ resolve });
  // A location is relative to where it was found; these do not begin as a whole URL does.
  const relative = ['http:///', 'http://?'];
  const rows = REFUSED_URLS.filter(({ url }) => /^[\x20-\x7e]+$/.test(url) && !relative.includes(url));
  assert.ok(rows.length >= 150);
  for (const { url, code } of rows) {
    const given = target.at('media.test', `/?${encodeURIComponent(url)}`);
    await assertTold(fetch.open(given, { bytesMax: 100 }), code, url);
  }
  assert.deepEqual([...new Set(resolve.asked)], ['media.test']);
  assert.equal(target.requests.length, rows.length);
});

test('R-286 the target of a redirect to a refused address receives nothing, for every status that redirects', async () => {
  using secret = await FetchTarget.start(giving('secret'));
  for (const status of [301, 302, 303, 307, 308]) {
    using target = await redirecting(status);
    for (const location of [secret.at('127.0.0.1'), secret.at('private.test'), `//2130706433:${secret.port}/`]) {
      const given = target.at('media.test', `/?${encodeURIComponent(location)}`);
      await assertTold(fetcher().open(given, { bytesMax: 100 }), 'invalid_media_url', location);
    }
  }
  assert.equal(secret.connections, 0);
});

test('R-286 a data URL is no place to be sent to', async () => {
  using target = await redirecting();
  const given = target.at('media.test', `/?${encodeURIComponent('data:text/plain,secret')}`);
  await assertTold(fetcher().open(given, { bytesMax: 100 }), 'unsupported_media_url_scheme');
});

test('R-292 five redirects are followed, a sixth is not', async () => {
  using target = await FetchTarget.start(countdown);
  const most = await fetcher().open(target.at('media.test', `/${FETCH_REDIRECTS_MAX}`), { bytesMax: 100 });
  assert.equal(most.url, target.at('media.test', '/0'));
  assert.equal(Buffer.concat(await Array.fromAsync(most.body)).toString(), 'arrived');
  const more = target.at('media.test', `/${FETCH_REDIRECTS_MAX + 1}`);
  await assertTold(fetcher().open(more, { bytesMax: 100 }), 'invalid_input_url');
  assert.equal(target.requests.length, 2 * (FETCH_REDIRECTS_MAX + 1));
});

test('R-292 redirects in a circle come to an end', async () => {
  using target = await FetchTarget.start((_request, response) => void response.writeHead(302, { location: '/' }).end());
  await assertTold(fetcher().open(target.at('media.test'), { bytesMax: 100 }), 'invalid_input_url');
  assert.equal(target.requests.length, FETCH_REDIRECTS_MAX + 1);
});

test('every hop has a connection of its own', async () => {
  using target = await FetchTarget.start(countdown);
  const resolve = answering(['127.0.0.1']);
  await fetchText(fetcher({ resolve }), target.at('media.test', '/3'));
  assert.equal(target.connections, 4);
  assert.equal(resolve.asked.length, 4);
});

test('R-295 an allowed host is allowed under exactly the name and the port that were listed', async () => {
  using target = await FetchTarget.start(giving('x'), { host: '0.0.0.0' });
  using other = await FetchTarget.start(giving('x'));
  const { port } = target;
  const cases: readonly { allow: string; yes: readonly string[]; no: readonly string[] }[] = [
    { allow: 'media.test', yes: [target.at('media.test'), target.at('MEDIA.TEST.')], no: [target.at('a.media.test')] },
    { allow: `media.test:${port}`, yes: [target.at('media.test')], no: [other.at('media.test')] },
    { allow: 'MEDIA.test.', yes: [target.at('media.test')], no: [target.at('media.test.example')] },
    {
      allow: '127.0.0.1',
      yes: [target.at('127.0.0.1'), target.at('127.1')],
      no: [target.at('127.0.0.2'), target.at('media.test')],
    },
    { allow: `127.0.0.1:${port}`, yes: [target.at('2130706433')], no: [other.at('127.0.0.1'), target.at('localhost')] },
    { allow: 'minio', yes: [target.at('minio')], no: [target.at('minio.test'), target.at('127.0.0.1')] },
    { allow: 'localhost', yes: [target.at('localhost')], no: [target.at('a.localhost'), target.at('127.0.0.1')] },
    {
      allow: '[::ffff:127.0.0.1]',
      yes: [target.at('[::ffff:7f00:1]')],
      no: [target.at('127.0.0.1'), target.at('[::1]')],
    },
    { allow: '::ffff:7f00:1', yes: [target.at('[::ffff:127.0.0.1]')], no: [target.at('[::ffff:127.0.0.2]')] },
  ];
  for (const { allow, yes, no } of cases) {
    const fetch = fetcher({ allow: [allow] });
    for (const url of yes) assert.equal(await fetchText(fetch, url), 'x', `${allow}: ${url}`);
    for (const url of no) await assertTold(fetch.open(url, { bytesMax: 1 }), 'invalid_media_url', `${allow}: ${url}`);
  }
  assert.equal(other.connections, 0);
});

test('R-295 a listed port may be used although it is a low one, and only it', () => {
  const fetch = fetcher({ allow: ['media.test:81', 'media.test'] });
  assert.equal(fetch.check('http://media.test:81/').port, '81');
  assert.throws(() => fetch.check('http://media.test:82/'), { code: 'invalid_media_url' });
  assert.throws(() => fetch.check('http://user@media.test:81/'), { code: 'invalid_media_url' });
  assert.throws(() => fetch.check('ftp://media.test:81/'), { code: 'unsupported_media_url_scheme' });
});

test('R-295 port 80 in the list is the port that http has anyway', () => {
  const fetch = fetcher({ allow: ['minio:80', 'vault:443'] });
  assert.equal(fetch.check('http://minio/').href, 'http://minio/');
  assert.equal(fetch.check('https://vault/').href, 'https://vault/');
  assert.throws(() => fetch.check('https://minio/'), { code: 'invalid_media_url' });
  assert.throws(() => fetch.check('http://vault/'), { code: 'invalid_media_url' });
});

test('R-295 an entry that names no host stops the program from starting', () => {
  for (const entry of [
    '',
    ':80',
    'host:',
    'host:port',
    'host:65536',
    'a:b:c',
    '[::1',
    'a b',
    'user@host',
    'host/path',
  ]) {
    assert.throws(() => fetcher({ allow: [entry] }), /TOLLGATE_FETCH_ALLOW/, entry);
  }
});

test('R-295 each use of the list is one line in the log, without the query', async () => {
  using target = await FetchTarget.start(countdown);
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  await fetchText(fetcher({ log }), target.at('media.test', '/1?signature=secret'));
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).url),
    [target.at('media.test', '/1'), target.at('media.test', '/0')],
  );
  assert.ok(!lines.join('').includes('secret'));
  await assertTold(fetcher({ allow: [], log }).open(target.at('media.test'), { bytesMax: 1 }), 'invalid_media_url');
  assert.equal(lines.length, 2);
});

test('https is verified against the name in the URL, not the address behind it', async (t) => {
  const certificate = selfSigned('media.test');
  using target = await FetchTarget.start(giving('x'), { certificate });
  const url = `https://media.test:${target.port}/`;
  await assertTold(fetcher().open(url, { bytesMax: 1 }), 'invalid_input_url', 'signed by nobody known');
  const before = getCACertificates('default');
  t.after(() => setDefaultCACertificates(before));
  setDefaultCACertificates([...before, certificate.cert]);
  assert.equal(await fetchText(fetcher(), url), 'x');
  const others = fetcher({ allow: ['other.test', '127.0.0.1'] });
  for (const host of ['other.test', '127.0.0.1']) {
    await assertTold(others.open(`https://${host}:${target.port}/`, { bytesMax: 1 }), 'invalid_input_url', host);
  }
  assert.equal(target.requests.length, 1);
});
