import { splitAtCommas, statementsOf } from './sql-statements.ts';

/** What a statement does to processes that use the table meanwhile, the gentlest first. */
export type Hold =
  /** Nothing that is in use. */
  | 'nothing'
  /** Locks rows until the migration commits. */
  | 'rows'
  /** Needs every other transaction out of the table, for a moment. */
  | 'moment'
  /** Keeps writes out while the table is read. */
  | 'writes'
  /** Keeps everything out while the table is read. */
  | 'all'
  /** Keeps everything out while the table is written anew. */
  | 'rewrite'
  | 'unknown';

export interface Effect {
  /** As in the text, in small letters, cut. */
  readonly statement: string;
  readonly table: string | undefined;
  readonly hold: Hold;
  /** Whether processes of the release before can work on: `contract` takes away or demands what they do not know of. */
  readonly kind: 'expand' | 'contract' | 'unknown';
}

type Verdict = Pick<Effect, 'hold' | 'kind'>;

const STATEMENT_CHARS_SHOWN = 90;
const FREE: Verdict = { hold: 'nothing', kind: 'expand' };
const UNKNOWN: Verdict = { hold: 'unknown', kind: 'unknown' };

/** The first that fits; `on` is the table in question. */
const STATEMENTS: readonly (readonly [pattern: RegExp, hold: Hold, kind: Effect['kind']])[] = [
  [/^create (?:unlogged )?table (?:if not exists )?\S+ partition of (?<on>\S+)/, 'moment', 'expand'],
  [/^create unique index (?!concurrently).*? on (?:only )?(?<on>[^\s(]+)/, 'writes', 'contract'],
  [/^create index (?!concurrently).*? on (?:only )?(?<on>[^\s(]+)/, 'writes', 'expand'],
  [/^create (?:constraint )?(?:or replace )?trigger .*? on (?<on>\S+)/, 'moment', 'expand'],
  [
    /^create (?:or replace )?(?:function|procedure|view|type|domain|sequence|schema|extension|aggregate)\b/,
    'nothing',
    'expand',
  ],
  [/^(?:comment on|grant|revoke|set|reset)\b/, 'nothing', 'expand'],
  [/^drop table (?:if exists )?(?<on>[^\s,]+)/, 'moment', 'contract'],
  [/^drop trigger (?:if exists )?\S+ on (?<on>\S+)/, 'moment', 'contract'],
  [/^drop\b/, 'moment', 'contract'],
  [/^alter type \S+ add value\b/, 'nothing', 'expand'],
  [/^alter (?:index|type|sequence|view|function|trigger|schema) .* rename\b/, 'moment', 'contract'],
  [/^insert into (?<on>[^\s(]+)/, 'rows', 'expand'],
  [/^update (?:only )?(?<on>\S+)/, 'rows', 'expand'],
  [/^delete from (?:only )?(?<on>\S+)/, 'rows', 'contract'],
  [/^truncate (?:table )?(?:only )?(?<on>[^\s,]+)/, 'moment', 'contract'],
];

const COLUMN_ACTIONS: readonly (readonly [pattern: RegExp, hold: Hold, kind: Effect['kind']])[] = [
  [/^(?:set data )?type\b/, 'rewrite', 'contract'],
  [/^set not null/, 'all', 'contract'],
  [/^drop not null/, 'moment', 'expand'],
  [/^set default/, 'moment', 'expand'],
  [/^drop default/, 'moment', 'contract'],
  [/^(?:set|reset) (?:statistics|storage|compression|\()/, 'moment', 'expand'],
];

const TABLE_ACTIONS: readonly (readonly [pattern: RegExp, hold: Hold, kind: Effect['kind']])[] = [
  [/^drop\b/, 'moment', 'contract'],
  [/^rename\b/, 'moment', 'contract'],
  [/^validate constraint\b/, 'nothing', 'expand'],
  // Whatever it says, rows of the release before may break it.
  [/^add (?:constraint \S+ )?(?:check|foreign key)\b.* not valid$/, 'moment', 'contract'],
  [/^add (?:constraint\b|check\b|foreign key\b|unique\b|primary key\b|exclude\b)/, 'all', 'contract'],
  [/^(?:set|reset) \(/, 'moment', 'expand'],
  [/^(?:enable|disable) (?:always |replica )?(?:trigger|rule|row level)/, 'moment', 'contract'],
];

/** The effects of each statement. What works on tables that the plan itself makes holds up nothing. */
export function effectsOf(text: string, newTables = new Set<string>()): Effect[] {
  return statementsOf(text).flatMap((statement) => {
    const made = /^create (?:unlogged )?table (?:if not exists )?(\S+)(?! partition)/.exec(statement)?.[1];
    if (made !== undefined) newTables.add(made);
    const isPartition = made !== undefined && / partition of /.test(statement);
    if (made !== undefined && !isPartition) return [effect(statement, made, FREE)];
    return judged(statement).map(({ table, ...verdict }) =>
      table !== undefined && newTables.has(table) ? effect(statement, table, FREE) : effect(statement, table, verdict),
    );
  });
}

/** The oldest release whose processes work beside a migration that contracts, as its text declares it; null: it expands. */
export function neededRelease(text: string): string | null {
  return /^-- contract, needs (\d+\.\d+\.\d+)$/m.exec(text)?.[1] ?? null;
}

function judged(statement: string): (Verdict & { table: string | undefined })[] {
  const altered = /^alter table (?:if exists )?(?:only )?(\S+) (.*)$/.exec(statement);
  if (altered !== null) {
    const [, table, actions = ''] = altered;
    return splitAtCommas(actions).map((action) => ({ table, ...actionVerdict(action) }));
  }
  for (const [pattern, hold, kind] of STATEMENTS) {
    const found = pattern.exec(statement);
    if (found !== null) return [{ table: found.groups?.on, hold, kind }];
  }
  return [{ table: undefined, ...UNKNOWN }];
}

function actionVerdict(action: string): Verdict {
  const [, column] = /^alter (?:column )?\S+ (.*)$/.exec(action) ?? [];
  if (column !== undefined) return verdictIn(COLUMN_ACTIONS, column);
  const known = verdictIn(TABLE_ACTIONS, action);
  if (known !== UNKNOWN) return known;
  const [, added] = /^add (?:column )?(?:if not exists )?(.*)$/.exec(action) ?? [];
  return added === undefined ? UNKNOWN : addedColumn(added);
}

function verdictIn(table: readonly (readonly [RegExp, Hold, Effect['kind']])[], text: string): Verdict {
  const found = table.find(([pattern]) => pattern.test(text));
  return found === undefined ? UNKNOWN : { hold: found[1], kind: found[2] };
}

/** A default that is one value for all rows is stored once; one that each row needs computed writes the table anew. */
function addedColumn(definition: string): Verdict {
  const isGenerated = /\bgenerated\b/.test(definition) || /\b(?:big|small)?serial\b/.test(definition);
  const value = /\bdefault (.*)$/.exec(definition)?.[1];
  const isVolatile =
    value !== undefined && /\w\s*\(/.test(value.replaceAll(/\b(?:now|transaction_timestamp)\(\)/g, ''));
  const isMissing = /\bnot null\b/.test(definition) && value === undefined && !isGenerated;
  const isChecked = /\b(?:check|references|unique|primary key)\b/.test(definition);
  const hold = isGenerated || isVolatile ? 'rewrite' : isChecked ? 'all' : 'moment';
  return { hold, kind: isMissing ? 'contract' : 'expand' };
}

function effect(statement: string, table: string | undefined, verdict: Verdict): Effect {
  const isLong = statement.length > STATEMENT_CHARS_SHOWN;
  return { statement: isLong ? `${statement.slice(0, STATEMENT_CHARS_SHOWN)} …` : statement, table, ...verdict };
}
