// Writes migrations/schema.sql: the schema that all migrations together make, for people to read. A test compares.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import { type Db, migrate, openDb } from '../src/db/index.ts';

export const SCHEMA_FILE = 'migrations/schema.sql';

const LINE_CHARS_MAX = 120;

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

/** Comments stand above what they describe, as `--` lines. */
export async function describeSchema(db: Db): Promise<string> {
  const described: string[] = [];
  for (const name of await namesOf(db, 'table')) described.push(await describeTable(db, name));
  for (const name of await namesOf(db, 'type')) described.push(await describeType(db, name));
  const head = '-- Made by "npm run schema" from the migrations. Read it; do not edit it.\n';
  return [head, ...described, await describeFunctions(db), await describeViews(db)].join('\n');
}

async function namesOf(db: Db, kind: 'table' | 'type'): Promise<readonly string[]> {
  const rows = await db.rows<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = $1 order by 1`,
    [kind === 'table' ? 'r' : 'c'],
  );
  return rows.map(({ name }) => name);
}

/** Something of the schema with its comment; `text` has no separator at its end. */
interface Described {
  readonly text: string;
  readonly comment: string | null;
}

async function describeTable(db: Db, name: string): Promise<string> {
  const [table] = await db.rows<Described & { readonly storage: string | null }>(
    `select case relpersistence when 'u' then 'create unlogged table ' else 'create table ' end || relname as text,
       array_to_string(reloptions, ', ') as storage, obj_description(oid, 'pg_class') as comment
     from pg_class where oid = $1::regclass`,
    [name],
  );
  const members = [...(await columnsOf(db, name)), ...(await constraintsOf(db, name))];
  const body = members.map(({ text, comment }, place) => {
    const separator = place < members.length - 1 ? ',' : '';
    return `${commentLines(comment, '  ')}  ${text}${separator}\n`;
  });
  const storage = table?.storage ? ` with (${table.storage})` : '';
  const rest = [...(await indexesOf(db, name)), ...(await triggersOf(db, name))].map(statement);
  return `${commentLines(table?.comment)}${table?.text} (\n${body.join('')})${storage};\n${rest.join('')}`;
}

/** A composite type. */
async function describeType(db: Db, name: string): Promise<string> {
  const [type] = await db.rows<{ comment: string | null }>(
    `select obj_description(reltype, 'pg_type') as comment from pg_class where oid = $1::regclass`,
    [name],
  );
  const columns = await columnsOf(db, name);
  const body = columns.map(({ text, comment }, place) => {
    return `${commentLines(comment, '  ')}  ${text}${place < columns.length - 1 ? ',' : ''}\n`;
  });
  return `${commentLines(type?.comment)}create type ${name} as (\n${body.join('')});\n`;
}

function statement({ text, comment }: Described): string {
  return `${commentLines(comment)}${text};\n`;
}

function commentLines(comment: string | null | undefined, indent = ''): string {
  const start = `${indent}--`;
  const lines: string[] = [];
  for (const word of comment?.split(/\s+/) ?? []) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > LINE_CHARS_MAX) lines.push(`${start} ${word}`);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map((line) => `${line}\n`).join('');
}

async function columnsOf(db: Db, table: string): Promise<Described[]> {
  return db.rows(
    `select a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
       || case when a.attstorage = t.typstorage then '' when a.attstorage = 'p' then ' storage plain'
               else ' storage ' || a.attstorage::text end
       || case when a.attgenerated = 's' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
               when a.attidentity = 'a' then ' generated always as identity'
               when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end
       || case when a.attnotnull then ' not null' else '' end as text,
       col_description(a.attrelid, a.attnum) as comment
     from pg_attribute a join pg_type t on t.oid = a.atttypid
       left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [table],
  );
}

/** With its name where that is not the one that PostgreSQL gives: those follow from the columns. */
async function constraintsOf(db: Db, table: string): Promise<Described[]> {
  return db.rows(
    `select case when conname ~ '_(pkey|key|fkey|check)$' then '' else 'constraint ' || conname || ' ' end
       || pg_get_constraintdef(oid, true) as text, obj_description(oid, 'pg_constraint') as comment
     from pg_constraint
     where conrelid = $1::regclass and contype <> 'n' order by contype desc, conname`,
    [table],
  );
}

/** Without those that a constraint makes. */
async function indexesOf(db: Db, table: string): Promise<Described[]> {
  return db.rows(
    `select pg_get_indexdef(i.indexrelid) as text, obj_description(i.indexrelid, 'pg_class') as comment
     from pg_index i
     where i.indrelid = $1::regclass
       and not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u'))
     order by 1`,
    [table],
  );
}

async function triggersOf(db: Db, table: string): Promise<Described[]> {
  return db.rows(
    `select pg_get_triggerdef(oid) as text, obj_description(oid, 'pg_trigger') as comment
     from pg_trigger where tgrelid = $1::regclass and not tgisinternal order by tgname`,
    [table],
  );
}

async function describeFunctions(db: Db): Promise<string> {
  const functions = await db.rows<Described>(
    `select rtrim(pg_get_functiondef(oid), E'\\n') as text, obj_description(oid, 'pg_proc') as comment from pg_proc
     where pronamespace = 'public'::regnamespace and prokind = 'f' order by proname, oid`,
  );
  return functions.map(statement).join('\n');
}

async function describeViews(db: Db): Promise<string> {
  const views = await db.rows<Described>(
    `select 'create view ' || relname || E' as\n' || rtrim(pg_get_viewdef(oid, true), ';') as text,
       obj_description(oid, 'pg_class') as comment
     from pg_class where relnamespace = 'public'::regnamespace and relkind = 'v' order by relname`,
  );
  return views.map(statement).join('\n');
}
