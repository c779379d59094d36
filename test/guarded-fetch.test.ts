import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../src/errors.ts';
import { FETCH_URL_CHARS_MAX } from '../src/limits.ts';
import { assertTold, FetchTarget, fetcher, fetchText, giving } from './support/fetch-target.ts';
import { LOOPBACK_URLS, REFUSED_URLS } from './support/refused-addresses.ts';

const strict = fetcher({ allow: [], resolve: () => assert.fail('a URL was resolved that should not have been') });

function codeOf(url: string): string {
  try {
    strict.check(url);
    return 'accepted';
  } catch (error) {
    assert.ok(error instanceof ApiError, url);
    return error.code;
  }
}

test('R-284 R-285 R-290 R-291 every notation of the table is refused with its code, before any name is resolved', async () => {
  assert.ok(REFUSED_URLS.length >= 150);
  for (const { url, code, why } of REFUSED_URLS) {
    assert.equal(codeOf(url), code, `${why}: ${url}`);
    await assertTold(strict.open(url, { bytesMax: 1 }), code, `${why}: ${url}`);
  }
});

test('R-285 no notation of this machine connects to a port that is open, and each would if it were allowed', async () => {
  using target = await FetchTarget.start(giving('secret'), { host: '0.0.0.0' });
  const urls = LOOPBACK_URLS.filter((url) => url.startsWith('http:')).map((url) => withPort(url, target.port));
  for (const url of urls) await assertTold(strict.open(url, { bytesMax: 100 }), 'invalid_media_url', url);
  assert.equal(target.connections, 0);
  for (const url of urls) {
    const fetch = fetcher({ allow: [new URL(url).hostname] });
    assert.equal(await fetchText(fetch, url), 'secret', url);
  }
  assert.equal(target.connections, urls.length);
});

test('R-296 a refusal has the same text whether or not anything listens there', async () => {
  using open = await FetchTarget.start(giving('secret'));
  const closed = await FetchTarget.start(giving('secret'));
  const closedPort = closed.port;
  closed[Symbol.dispose]();
  const byName = fetcher({ allow: [] });
  for (const port of [open.port, closedPort]) {
    await assertTold(strict.open(`http://127.0.0.1:${port}/`, { bytesMax: 100 }), 'invalid_media_url');
    await assertTold(byName.open(`http://media.test:${port}/`, { bytesMax: 100 }), 'invalid_media_url');
  }
  assert.equal(open.connections, 0);
});

test('a URL is given back in its canonical form', () => {
  const forms = [
    ['HTTP://EXAMPLE.com', 'http://example.com/'],
    ['https://example.com:443/a/../b?c=d', 'https://example.com/b?c=d'],
    ['http://example.com./a', 'http://example.com/a'],
    ['http:example.com\\a', 'http://example.com/a'],
    [' http://exam\nple.com/ ', 'http://example.com/'],
    ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['http://134744072/', 'http://8.8.8.8/'],
    ['http://[2606:4700:0:0::1111]/', 'http://[2606:4700::1111]/'],
    ['http://@example.com/', 'http://example.com/'],
  ];
  for (const [given = '', canonical] of forms) assert.equal(strict.check(given).href, canonical, given);
});

test('R-291 the ports 80, 443 and 1024 to 65535 are used, and their neighbours not', () => {
  for (const port of [80, 443, 1024, 1025, 65_535]) assert.equal(codeOf(`http://example.com:${port}/`), 'accepted');
  for (const port of [0, 1, 79, 81, 442, 444, 1023, 65_536]) {
    assert.equal(codeOf(`http://example.com:${port}/`), 'invalid_media_url');
  }
});

test('R-284 a data URL is refused here, however long', () => {
  assert.equal(codeOf('data:image/png;base64,AAAA'), 'unsupported_media_url_scheme');
  assert.equal(codeOf(`data:,${'a'.repeat(FETCH_URL_CHARS_MAX)}`), 'unsupported_media_url_scheme');
});

test('R-294 what is no URL is told as an invalid one', () => {
  for (const text of ['', ' ', '//example.com/', 'example.com', '127.0.0.1:80', '/etc/passwd', 'http', '::']) {
    assert.equal(codeOf(text), 'invalid_media_url', text);
  }
});

test('a URL is at most 16 KiB long in its canonical form', () => {
  const room = FETCH_URL_CHARS_MAX - 'http://example.com/'.length;
  assert.equal(codeOf(`http://example.com/${'a'.repeat(room)}`), 'accepted');
  assert.equal(codeOf(`http://example.com/${'a'.repeat(room + 1)}`), 'invalid_media_url');
  assert.equal(codeOf(`http://example.com/${'é'.repeat(room / 6)}`), 'accepted');
  assert.equal(codeOf(`http://example.com/${'é'.repeat(room / 6 + 1)}`), 'invalid_media_url');
});

/** Word for word what must be refused at least. */
const REFUSED_RANGES = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32', '::/96', '::ffff:0:0/96', '::ffff:0:0:0/96'],
  ...['64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
  ...['5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
].map(rangeOf);

test('R-290 the first and the last address of every range are refused', () => {
  for (const { bits, first, last } of REFUSED_RANGES) {
    for (const address of [first, last]) assert.equal(codeOf(urlOf(address, bits)), 'invalid_media_url');
  }
});

test('R-290 the addresses beside the ranges of IPv4 are public', () => {
  const ranges = REFUSED_RANGES.filter(({ bits }) => bits === 32);
  const isRefused = (address: bigint) => ranges.some(({ first, last }) => address >= first && address <= last);
  const beside = ranges.flatMap(({ first, last }) => [first - 1n, last + 1n]);
  const open = beside.filter((address) => address >= 0n && address < 1n << 32n && !isRefused(address));
  assert.ok(open.length >= 24);
  for (const address of open) assert.equal(codeOf(urlOf(address, 32)), 'accepted', urlOf(address, 32));
});

test('R-290 the addresses beside the ranges of IPv6 are public where the network is', () => {
  for (const host of ['2000::', '2001:200::', '2001:db7:ffff::', '2001:db9::', '2001:ffff::', '2003::']) {
    assert.equal(codeOf(`http://[${host}]/`), 'accepted', host);
  }
  for (const host of ['3ffe:ffff::', '3fff:1000::', '2606:4700::1111']) {
    assert.equal(codeOf(`http://[${host}]/`), 'accepted', host);
  }
});

test('R-285 R-290 any address of any range is refused, and any other IPv4 address is not', () => {
  const inRange = fc
    .constantFrom(...REFUSED_RANGES)
    .chain(({ bits, first, last }) => fc.bigInt(first, last).map((address) => urlOf(address, bits)));
  fc.assert(fc.property(inRange, (url) => assert.equal(codeOf(url), 'invalid_media_url', url)));
  fc.assert(
    fc.property(fc.bigInt(0n, (1n << 32n) - 1n), (address) => {
      const isRefused = REFUSED_RANGES.some(
        ({ bits, first, last }) => bits === 32 && address >= first && address <= last,
      );
      assert.equal(codeOf(urlOf(address, 32)), isRefused ? 'invalid_media_url' : 'accepted');
    }),
  );
});

const privateIpv4 = fc
  .constantFrom(...REFUSED_RANGES.filter(({ bits }) => bits === 32))
  .chain(({ first, last }) => fc.bigInt(first, last))
  .map(Number);

test('R-285 a private IPv4 address is refused in any mixture of decimal, octal, hexadecimal, short, wide and encoded', () => {
  const spelled = fc
    .tuple(privateIpv4, fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }))
    .map(([address, parts, bases]) => ({ address, text: spell(address, parts, bases) }));
  fc.assert(
    fc.property(spelled, fc.array(fc.nat(3), { minLength: 40 }), fc.constantFrom('', '.'), (host, disguises, dot) => {
      const letters = host.text.split('').map((letter, at) => disguise(letter, disguises[at] ?? 0));
      const url = `http://${letters.join('')}${dot}/`;
      assert.equal(URL.parse(url)?.hostname, spell(host.address, 4, []), 'the disguise is a good one');
      assert.equal(codeOf(url), 'invalid_media_url', url);
    }),
    { numRuns: 1000 },
  );
});

test('R-285 R-289 a private IPv4 address is refused in every IPv6 embedding, written and resolved', async () => {
  const embedded = fc.tuple(privateIpv4, fc.constantFrom(...EMBEDDINGS)).map(([address, embed]) => embed(address));
  await fc.assert(
    fc.asyncProperty(embedded, async (address) => {
      assert.equal(codeOf(`http://[${address}]/`), 'invalid_media_url', address);
      const fetch = fetcher({ allow: [], resolve: async () => [address] });
      await assertTold(fetch.open('http://embedded.test/', { bytesMax: 1 }), 'invalid_media_url', address);
    }),
  );
});

const EMBEDDINGS: readonly ((address: number) => string)[] = [
  (address) => `::ffff:${hex(address)}`,
  (address) => `::${hex(address)}`,
  (address) => `::ffff:0:${hex(address)}`,
  (address) => `64:ff9b::${hex(address)}`,
  (address) => `64:ff9b:1::${hex(address)}`,
  (address) => `2002:${hex(address)}::1`,
  // Teredo hides its client's address by turning every bit.
  (address) => `2001:0:4136:e378:8000:63bf:${hex(~address >>> 0)}`,
  (address) => `2001:0:${hex(address)}:8000:63bf:1:1`,
];

function hex(address: number): string {
  return `${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`;
}

/** In that many parts, the last of which holds what is left of the number. */
function spell(address: number, parts: number, bases: readonly number[]): string {
  const heads = [24, 16, 8].slice(0, parts - 1).map((shift) => (address >>> shift) & 0xff);
  const rest = parts === 1 ? address : address % 2 ** (8 * (5 - parts));
  const written = [
    (part: number) => `${part}`,
    (part: number) => `0${part.toString(8)}`,
    (part: number) => `0x${part.toString(16)}`,
  ];
  return [...heads, rest].map((part, at) => written[bases[at] ?? 0]?.(part)).join('.');
}

function disguise(letter: string, how: number): string {
  if (how === 1) return String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0);
  if (how === 2) return `%${letter.charCodeAt(0).toString(16)}`;
  return how === 3 ? letter.toUpperCase() : letter;
}

function rangeOf(text: string): { bits: 32 | 128; first: bigint; last: bigint } {
  const [network = '', length] = text.split('/');
  const bits = network.includes(':') ? 128 : 32;
  const first = network.includes(':') ? ipv6Number(network) : ipv4Number(network);
  return { bits, first, last: first + (1n << BigInt(bits - Number(length))) - 1n };
}

function ipv4Number(text: string): bigint {
  return text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function ipv6Number(text: string): bigint {
  const [head = [], tail = []] = text.split('::').map((half) => half.split(':').filter((part) => part !== ''));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n);
}

function urlOf(address: bigint, bits: 32 | 128): string {
  if (bits === 32) return `http://${address}/`;
  const parts = address.toString(16).padStart(32, '0').match(/.{4}/g) ?? [];
  return `http://[${parts.join(':')}]/`;
}

function withPort(url: string, port: number): string {
  return url.replace(/^(http:[/\\]{2}[^/\\]+)/, `$1:${port}`);
}
