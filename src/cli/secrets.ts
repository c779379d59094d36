import { rootSecretsOf } from '../app.ts';
import { resealConfigurations } from '../catalogue/index.ts';
import { systemClock } from '../clock.ts';
import { loadConfig } from '../config.ts';
import type { Command, Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';

export const secretsReseal: Command = {
  name: 'secrets reseal',
  operands: [],
  options: {},
  summary: 'seal stored upstream secrets with the present TOLLGATE_SECRET',
  details: `Opens every stored upstream secret with TOLLGATE_SECRET or TOLLGATE_SECRET_PREVIOUS and seals it with the
first. Gateways that were started with both go on meanwhile. May be broken off and repeated.

When it is done, TOLLGATE_SECRET_PREVIOUS is needed only for links to media that the old secret signed.`,
  run: reseal,
};

async function reseal({ environment }: Invocation): Promise<number> {
  const config = loadConfig(environment);
  const secrets = rootSecretsOf(config);
  const { versions, resealed, unopened } = await withDatabase(config, (db) =>
    resealConfigurations({ db, clock: systemClock, ...secrets }, { name: 'command', requestId: undefined }),
  );
  console.log(`Resealed ${resealed} of ${versions} stored configurations.`);
  if (unopened.length === 0) return 0;
  console.error(
    `${unopened.length} of them open with neither TOLLGATE_SECRET nor TOLLGATE_SECRET_PREVIOUS and were left as they ` +
      `are: version ${unopened.join(', ')}.`,
  );
  return 1;
}
