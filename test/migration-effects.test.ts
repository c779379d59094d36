import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Db, openDb } from '../src/db/index.ts';
// Pure functions of a folder whose index.ts offers only what the program uses.
import { type Effect, effectsOf, type Hold, neededRelease } from '../src/db/migration-effects.ts';
import { createDatabase, silentLog, type TestDatabase } from './support/database.ts';

const FOLDER = fileURLToPath(new URL('../migrations', import.meta.url));

let database: TestDatabase;
let db: Db;
before(async () => {
  database = await createDatabase();
  db = openDb(database.address, silentLog);
  await db.transaction((tx) =>
    tx.script(`create table parent (id integer primary key);
      create table t (id integer primary key, a text, b integer not null default 0, c integer);
      create index t_a on t (a);
      insert into t (id, a, c) select n, n::text, n from generate_series(1, 50) n;
      create function noop() returns trigger language plpgsql as 'begin return new; end';
      create trigger old_trigger before insert on t for each row execute function noop();`),
  );
});
after(async () => {
  await db.close();
  await database.drop();
});

/** Each statement, what it does to table `t` while processes use it, and whether the release before works on. */
const CASES: readonly (readonly [statement: string, hold: Hold, kind: Effect['kind']])[] = [
  ['create table fresh (id integer)', 'nothing', 'expand'],
  ['create or replace function more() returns integer language sql as $$ select 1; $$', 'nothing', 'expand'],
  [`comment on table t is 'a; b'`, 'nothing', 'expand'],
  ['alter table t add column d text', 'moment', 'expand'],
  [`alter table t add column d text not null default 'x'`, 'moment', 'expand'],
  ['alter table t add column d timestamptz not null default now()', 'moment', 'expand'],
  ['alter table t add column d uuid default gen_random_uuid()', 'rewrite', 'expand'],
  ['alter table t add column d bigint generated always as identity', 'rewrite', 'expand'],
  ['alter table t alter column c drop not null', 'moment', 'expand'],
  ['alter table t alter column c set default 1', 'moment', 'expand'],
  ['alter table t set (fillfactor = 50)', 'moment', 'expand'],
  ['create index t_c on t (c)', 'writes', 'expand'],
  ['create trigger new_trigger before update on t for each row execute function noop()', 'moment', 'expand'],
  ['update t set a = a', 'rows', 'expand'],
  ['insert into t (id) values (1000)', 'rows', 'expand'],
  ['alter table t drop column a', 'moment', 'contract'],
  ['alter table t rename column a to z', 'moment', 'contract'],
  ['alter table t rename to u', 'moment', 'contract'],
  ['alter table t alter column c type bigint', 'rewrite', 'contract'],
  ['alter table t alter column c set not null', 'all', 'contract'],
  ['alter table t alter column b drop default', 'moment', 'contract'],
  ['alter table t add constraint positive check (b >= 0)', 'all', 'contract'],
  ['alter table t add constraint positive check (b >= 0) not valid', 'moment', 'contract'],
  ['create unique index t_unique on t (c)', 'writes', 'contract'],
  ['drop trigger old_trigger on t', 'moment', 'contract'],
  ['delete from t where id = 1', 'rows', 'contract'],
  ['truncate t', 'moment', 'contract'],
  ['drop table t', 'moment', 'contract'],
];

/** The strongest lock on the table that each may take. */
const LOCKS: Readonly<Record<Hold, readonly string[]>> = {
  nothing: ['', 'ShareUpdateExclusiveLock'],
  rows: ['RowExclusiveLock'],
  moment: ['ShareUpdateExclusiveLock', 'ShareRowExclusiveLock', 'AccessExclusiveLock'],
  writes: ['ShareLock'],
  all: ['AccessExclusiveLock'],
  rewrite: ['AccessExclusiveLock'],
  unknown: [],
};
const STRENGTH = [
  '',
  'AccessShareLock',
  'RowShareLock',
  'RowExclusiveLock',
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
];

class Undone extends Error {}

/** What PostgreSQL really does: the strongest lock on the table, and whether its file was replaced. */
async function observed(statement: string): Promise<{ lock: string; isRewritten: boolean }> {
  let found = { lock: '', isRewritten: false };
  const run = db.transaction(async (tx) => {
    const file = async () =>
      (await tx.rows<{ file: string }>(`select relfilenode::text as file from pg_class where oid = $1::oid`, [oid]))[0]
        ?.file;
    const [{ oid } = { oid: '' }] = await tx.rows<{ oid: string }>(`select 't'::regclass::oid::text as oid`);
    const before = await file();
    await tx.script(statement);
    const locks = await tx.rows<{ mode: string }>(
      'select mode from pg_locks where pid = pg_backend_pid() and relation = $1::oid and granted',
      [oid],
    );
    const strongest = Math.max(0, ...locks.map(({ mode }) => STRENGTH.indexOf(mode)));
    const after = await file();
    const isEmptied = /^(?:truncate|drop table)/.test(statement);
    found = { lock: STRENGTH[strongest] ?? '', isRewritten: !isEmptied && before !== after };
    throw new Undone();
  });
  await run.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });
  return found;
}

for (const [statement, hold, kind] of CASES) {
  test(`R-527: "${statement}" holds up ${hold} and is ${kind}, as PostgreSQL does it`, async () => {
    assert.deepEqual(
      effectsOf(statement).map((effect) => [effect.hold, effect.kind]),
      [[hold, kind]],
    );
    const { lock, isRewritten } = await observed(statement);
    // A lock of AccessShare is that of the look at the table itself.
    const taken = lock === 'AccessShareLock' ? '' : lock;
    assert.ok(LOCKS[hold].includes(taken), `takes ${lock}`);
    assert.equal(isRewritten, hold === 'rewrite');
  });
}

test('statements about a table that the plan itself makes hold up nothing', () => {
  const text = `create table made (id integer); create index made_id on made (id);
    alter table made alter column id set not null; alter table t drop column a, add column d text;`;
  assert.deepEqual(
    effectsOf(text).map(({ table, hold, kind }) => [table, hold, kind]),
    [
      ['made', 'nothing', 'expand'],
      ['made', 'nothing', 'expand'],
      ['made', 'nothing', 'expand'],
      ['t', 'moment', 'contract'],
      ['t', 'moment', 'expand'],
    ],
  );
});

test('what cannot be judged is said to be unknown, and quoted text is not taken for statements', () => {
  for (const statement of [
    'do $$ begin drop table t; end $$',
    'lock table t',
    'create index concurrently i on t (a)',
  ]) {
    assert.deepEqual(
      effectsOf(statement).map(({ kind }) => kind),
      ['unknown'],
    );
  }
  assert.deepEqual(
    effectsOf(`-- drop table t;\n/* drop table t; */ comment on table t is 'drop table t; it''s';`).map(
      ({ kind }) => kind,
    ),
    ['expand'],
  );
});

/** Tables whose rows a function of the ledger builds: with a column more, it must be replaced in the same migration. */
function builtRows(folder: string): string[] {
  const texts = readdirSync(folder)
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  return [
    ...new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/\)::(ledger_entries|reservations|balances|grants)\b/g)].map(([, name = '']) => name),
      ),
    ),
  ];
}

/** What of a migration is against the rule. */
function violationsIn(text: string, built: readonly string[], newTables: Set<string>): string[] {
  if (neededRelease(text) !== null) return [];
  const replaces = /create or replace function/i.test(text);
  return effectsOf(text, newTables)
    .filter(({ kind, table = '', statement, hold }) => {
      const isAltered = hold !== 'nothing' && built.includes(table) && / add /.test(statement) && !replaces;
      return kind !== 'expand' || isAltered;
    })
    .map(({ statement }) => statement);
}

test('R-527: every migration that is not released yet only adds, or declares which release it needs', () => {
  const list = join(FOLDER, 'released.sha256');
  const released = existsSync(list) ? readFileSync(list, 'utf8') : '';
  const files = readdirSync(FOLDER).filter((file) => /^\d{4}_.*\.sql$/.test(file) && !released.includes(file));
  const newTables = new Set<string>();
  for (const file of files.sort()) {
    const text = readFileSync(join(FOLDER, file), 'utf8');
    assert.deepEqual(violationsIn(text, builtRows(FOLDER), newTables), [], file);
  }
});

test('R-527: a migration that breaks the rule is found', () => {
  const built = builtRows(FOLDER);
  assert.deepEqual(built.toSorted(), ['ledger_entries', 'reservations']);
  const rows: readonly (readonly [text: string, count: number])[] = [
    ['alter table jobs add column a text;', 0],
    ['alter table jobs add column a text not null;', 1],
    ['alter table jobs drop column a;', 1],
    ['-- contract, needs 0.2.0\nalter table jobs drop column a;', 0],
    ['alter table reservations add column a text;', 1],
    [
      'alter table reservations add column a text; create or replace function f() returns int language sql as $$ $$;',
      0,
    ],
  ];
  for (const [text, count] of rows) assert.equal(violationsIn(text, built, new Set()).length, count, text);
});
