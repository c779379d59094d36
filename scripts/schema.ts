// Writes migrations/schema.sql: the schema that all migrations together make, for people to read. A test compares.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import { type Db, migrate, openDb } from '../src/db/index.ts';

export const SCHEMA_FILE = 'migrations/schema.sql';

if (import.meta.main) await writeSchema();

async function writeSchema(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-schema-'));
  const log = pino({ level: 'warn' });
  const server = await startEmbeddedPostgres({ folder, log, progress: () => undefined });
  try {
    const db = openDb(server.connection, log);
    await migrate(db, () => undefined);
    await writeFile(SCHEMA_FILE, await describeSchema(db));
    await db.close();
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

export async function describeSchema(db: Db): Promise<string> {
  const tables = await db.rows<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  );
  const described: string[] = [];
  for (const { name } of tables) described.push(await describeTable(db, name));
  const head = '-- Made by "npm run schema" from the migrations. Read it; do not edit it.\n';
  return [head, ...described, await describeFunctions(db)].join('\n');
}

async function describeTable(db: Db, table: string): Promise<string> {
  const lines = [...(await columnsOf(db, table)), ...(await constraintsOf(db, table))];
  const [options] = await db.rows<{ text: string | null }>(
    `select array_to_string(reloptions, ', ') as text from pg_class where oid = $1::regclass`,
    [table],
  );
  const storage = options?.text ? ` with (${options.text})` : '';
  const indexes = await indexesOf(db, table);
  return `create table ${table} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${storage};\n${indexes}`;
}

async function columnsOf(db: Db, table: string): Promise<string[]> {
  const columns = await db.rows<{ text: string }>(
    `select a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
       || case when a.attgenerated = 's' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
               when a.attidentity = 'a' then ' generated always as identity'
               when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end
       || case when a.attnotnull then ' not null' else '' end as text
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [table],
  );
  return columns.map((column) => column.text);
}

async function constraintsOf(db: Db, table: string): Promise<string[]> {
  const constraints = await db.rows<{ text: string }>(
    `select pg_get_constraintdef(oid, true) as text from pg_constraint
     where conrelid = $1::regclass and contype <> 'n' order by contype desc, conname`,
    [table],
  );
  return constraints.map((constraint) => constraint.text);
}

async function indexesOf(db: Db, table: string): Promise<string> {
  const indexes = await db.rows<{ text: string }>(
    `select pg_get_indexdef(i.indexrelid) as text from pg_index i
     where i.indrelid = $1::regclass and not i.indisprimary order by 1`,
    [table],
  );
  const triggers = await db.rows<{ text: string }>(
    `select pg_get_triggerdef(oid) as text from pg_trigger where tgrelid = $1::regclass and not tgisinternal order by tgname`,
    [table],
  );
  return [...indexes, ...triggers].map(({ text }) => `${text};\n`).join('');
}

async function describeFunctions(db: Db): Promise<string> {
  const functions = await db.rows<{ text: string }>(
    `select pg_get_functiondef(oid) as text from pg_proc
     where pronamespace = 'public'::regnamespace and prokind = 'f' order by proname, oid`,
  );
  return functions.map(({ text }) => `${text.trimEnd()};\n`).join('\n');
}
