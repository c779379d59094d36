import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseUrlProblem, parsePostgresUrl } from './postgres-url.ts';

const serversOf = (url: string) => parsePostgresUrl(url).servers.map((server) => `${server.name} ${server.url}`);

const parsed: readonly [url: string, ...servers: string[]][] = [
  ['postgres://u@h/db?sslmode=disable', 'h:5432 postgres://u@h/db?sslmode=disable'],
  ['postgres://u@h:77/db', 'h:77 postgres://u@h:77/db'],
  ['postgres://u@localhost/db?host=%2Frun%2Fpg', '/run/pg:5432 postgres://u@localhost/db?host=%2Frun%2Fpg'],
  ['postgresql://u:p%40@h1:1,h2:2/db', 'h1:1 postgresql://u:p%40@h1:1/db', 'h2:2 postgresql://u:p%40@h2:2/db'],
  ['postgres://h1,[::1]:77/db?a=b', 'h1:5432 postgres://h1:5432/db?a=b', '[::1]:77 postgres://[::1]:77/db?a=b'],
  [
    'postgres:///db?host=/a,/b&port=1,2',
    '/a:1 postgres://localhost/db?host=%2Fa&port=1',
    '/b:2 postgres://localhost/db?host=%2Fb&port=2',
  ],
  [
    'postgres:///db?host=a,b&port=7',
    'a:7 postgres://localhost/db?host=a&port=7',
    'b:7 postgres://localhost/db?host=b&port=7',
  ],
  ['postgres://%2Fa,h2/db', '/a:5432 postgres://%2Fa:5432/db', 'h2:5432 postgres://h2:5432/db'],
];

for (const [url, ...servers] of parsed) {
  test(`${url} names ${servers.length} servers, each with an address of its own`, () => {
    assert.deepEqual(serversOf(url), servers);
  });
}

for (const attrs of ['any', 'read-write', 'primary', 'read-only', 'standby', 'prefer-standby']) {
  test(`target_session_attrs=${attrs} is understood, and taken from the servers' own addresses`, () => {
    const { servers, sessionAttrs } = parsePostgresUrl(`postgres://h1,h2/db?target_session_attrs=${attrs}`);
    assert.equal(sessionAttrs, attrs);
    assert.deepEqual(
      servers.map(({ url }) => url),
      ['postgres://h1:5432/db', 'postgres://h2:5432/db'],
    );
  });
}

const refused: readonly [url: string, problem: RegExp][] = [
  ['mysql://h/db', /^must be an address such as postgres:/],
  ['postgres://h1,,h2/db', /^must be an address/],
  ['postgres://h1:1,h2:x/db', /^must be an address/],
  ['postgres://h1:1,h2:70000/db', /^must have ports from 1 to 65535$/],
  ['postgres:///db?host=a,b,c&port=1,2', /^must have as many ports as hosts/],
  [`postgres://${Array.from({ length: 17 }, (_, n) => `h${n}`).join()}/db`, /^must name at most 16 hosts$/],
  ['postgres://h1,h2/db?load_balance_hosts=random', /^cannot have load_balance_hosts/],
  ['postgres://h/db?target_session_attrs=leader', /^has target_session_attrs="leader", which must be one of any, /],
  ['postgres://h/db?target_session_attrs=standby', /^cannot have target_session_attrs=standby: the gateway writes/],
  ['postgres://h1,h2/db?target_session_attrs=prefer-standby', /^cannot have target_session_attrs=prefer-standby/],
];

for (const [url, problem] of refused) {
  test(`${url.slice(0, 80)} is refused in words`, () => assert.match(databaseUrlProblem(url) ?? '', problem));
}

test('no refusal quotes the password', () => {
  for (const url of ['postgres://u:hush@h1:x,h2/db', 'postgres://u:hush@h/db?target_session_attrs=leader'])
    assert.doesNotMatch(databaseUrlProblem(url) ?? '', /hush/);
});
