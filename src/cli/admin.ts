import { systemClock } from '../clock.ts';
import { loadConfig } from '../config.ts';
import { invitations } from '../people/index.ts';
import { CommandError, type Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';
import { print } from './output.ts';

export async function createOperator({ operands, options, environment }: Invocation): Promise<number> {
  const [email = ''] = operands;
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new CommandError(`${email} is not an email address.`);
  const config = loadConfig(environment);
  const { secret } = await withDatabase(config, (db) =>
    invitations.makeOperator({ db, clock: systemClock }, { name: 'command', requestId: undefined }, email, 'operator'),
  );
  const link = `${config.publicUrl}/link/${secret}`;
  print(options, { email, link }, () => link);
  return 0;
}
