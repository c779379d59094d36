import { rootSecretsOf } from '../app.ts';
import { resealConfigurations } from '../catalogue/index.ts';
import { systemClock } from '../clock.ts';
import { loadConfig } from '../config.ts';
import type { Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';
import { print } from './output.ts';

export async function reseal({ options, environment }: Invocation): Promise<number> {
  const config = loadConfig(environment);
  const secrets = rootSecretsOf(config);
  const { versions, resealed, unopened } = await withDatabase(config, (db) =>
    resealConfigurations({ db, clock: systemClock, ...secrets }, { name: 'command', requestId: undefined }),
  );
  const report = { versions, resealed, unopened: unopened.map(Number) };
  print(options, report, () => `Resealed ${resealed} of ${versions} stored configurations.`);
  if (unopened.length === 0) return 0;
  console.error(
    `${unopened.length} of them open with neither TOLLGATE_SECRET nor TOLLGATE_SECRET_PREVIOUS and were left as they ` +
      `are: version ${unopened.join(', ')}.`,
  );
  return 1;
}
