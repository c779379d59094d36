import { resolve } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import { type Db, migrate, migrations } from '../db/index.ts';
import type { Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';
import { print } from './output.ts';

export async function runMigrate({ environment, options }: Invocation): Promise<number> {
  const config = loadConfig(environment);
  return withDatabase(config, (db) =>
    options.plan === undefined ? apply(db, config, options) : showPlan(db, options),
  );
}

const NOTHING_TO_DO = 'The database has every migration of this release.';

async function apply(db: Db, config: Config, options: Invocation['options']): Promise<number> {
  const applied: string[] = [];
  const dataFolder = config.databaseUrl === undefined ? resolve(config.dataFolder) : undefined;
  const progress = (message: string) => {
    applied.push(message);
    if (options.json === undefined) console.log(message);
  };
  await migrate(db, progress, { dataFolder });
  if (options.json !== undefined) console.log(JSON.stringify({ applied }));
  else if (applied.length === 0) console.log(NOTHING_TO_DO);
  return 0;
}

async function showPlan(db: Db, options: Invocation['options']): Promise<number> {
  const plan = await migrations.planMigrations(db);
  print(options, { plan }, () => (plan.length === 0 ? NOTHING_TO_DO : plan.map(planText)));
  return 0;
}

const HOLDS = {
  rows: 'locks the rows that it writes until it commits',
  moment: 'locks the table for a moment',
  writes: 'keeps writes out of the table while it reads it',
  all: 'keeps everything out of the table while it reads it',
  rewrite: 'keeps everything out of the table while it writes it anew',
  unknown: 'cannot be judged: read it',
} as const;

/** A migration with those of its statements that matter to processes that run. */
function planText({ name, needs, effects }: migrations.PlannedMigration): string {
  const kind = needs === null ? 'expand: the release before works on' : `contract: needs ${needs} or later everywhere`;
  const lines = effects.flatMap(({ hold, table, statement }) => {
    if (hold === 'nothing') return [];
    return [`  ${table === undefined ? '' : `${table}: `}${HOLDS[hold]}`, `    ${statement}`];
  });
  return [`${name} (${kind})`, ...(lines.length > 0 ? lines : ['  holds up nothing'])].join('\n');
}
