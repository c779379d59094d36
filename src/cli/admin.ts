import { systemClock } from '../clock.ts';
import { loadConfig } from '../config.ts';
import { invitations } from '../people/index.ts';
import { type Command, CommandError, type Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';

export const adminCreate: Command = {
  name: 'admin create',
  operands: ['EMAIL'],
  options: {},
  summary: 'make an operator, and print the link that sets the password',
  details: `Makes a person who may run this deployment, or gives that role to a person of this email. Prints a link
that works once, for a day, and sets the password. Repeating it prints a new link and ends the old one.`,
  run: createOperator,
};

async function createOperator({ operands, environment }: Invocation): Promise<number> {
  const [email = ''] = operands;
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new CommandError(`${email} is not an email address.`);
  const config = loadConfig(environment);
  const { secret } = await withDatabase(config, (db) =>
    invitations.makeOperator({ db, clock: systemClock }, { name: 'command', requestId: undefined }, email, 'operator'),
  );
  console.log(`${config.publicUrl}/link/${secret}`);
  return 0;
}
