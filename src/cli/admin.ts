import { systemClock } from '../clock.ts';
import { loadConfig } from '../config.ts';
import { invitations } from '../people/index.ts';
import { CommandError, type Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';

export async function createOperator({ operands, environment }: Invocation): Promise<number> {
  const [email = ''] = operands;
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new CommandError(`${email} is not an email address.`);
  const config = loadConfig(environment);
  const { secret } = await withDatabase(config, (db) =>
    invitations.makeOperator({ db, clock: systemClock }, { name: 'command', requestId: undefined }, email, 'operator'),
  );
  console.log(`${config.publicUrl}/link/${secret}`);
  return 0;
}
