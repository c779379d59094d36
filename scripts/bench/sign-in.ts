import { argon2Sync, randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { type Subject, startGateway } from './gateway.ts';
import type { BenchServer } from './servers.ts';
import type { Row } from './table.ts';

const GUESSES = 10_000;
const AT_ONCE = 32;

/** Guesses at passwords, most of which are refused, against as many looks at the sign-in page: what derivations add. */
export async function benchSignIn(subject: Subject): Promise<Row[]> {
  const gateway = await startGateway(subject);
  try {
    await send(gateway, '127.0.0.1', () => undefined);
    const page = await send(gateway, '127.0.0.1', () => undefined);
    const one = await send(gateway, '127.0.0.1', () => 'ada@example.com');
    // From another address, whose allowance is whole.
    const many = await send(gateway, '127.0.0.2', (number) => `person-${number % 1000}@example.com`);
    const perDerivation = derivationSeconds();
    const all = [
      { at: 'at one account', ...one },
      { at: 'at 1,000 accounts', ...many },
    ];
    return all.flatMap(({ at, seconds, derivations }) => {
      return [
        {
          measure: `10,000 guesses ${at} from one address, processor s in all`,
          bare: page.seconds,
          tollgate: seconds,
          ratio: seconds / page.seconds,
          goal: '',
        },
        {
          measure: `of them argon2, ${derivations} derivations, processor s`,
          bare: undefined,
          tollgate: derivations * perDerivation,
          ratio: '',
          goal: '≤ 1',
        },
      ];
    });
  } finally {
    await gateway.stop();
  }
}

interface Measured {
  readonly seconds: number;
  /** Guesses that were not refused before the password was looked at. */
  readonly derivations: number;
}

/** Undefined looks at the page. */
async function send(
  gateway: BenchServer,
  localAddress: string,
  emailOf: (number: number) => string | undefined,
): Promise<Measured> {
  const agent = new Agent({ connections: AT_ONCE, localAddress });
  const before = gateway.used();
  let next = 0;
  let derivations = 0;
  const sendOn = async () => {
    while (next < GUESSES) {
      const email = emailOf(next++);
      const form = email === undefined ? null : new URLSearchParams({ email, password: 'a wrong password' }).toString();
      const { statusCode, body } = await request(`${gateway.url}/sign-in`, {
        method: form === null ? 'GET' : 'POST',
        dispatcher: agent,
        headers: form === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' },
        body: form,
      });
      await body.dump();
      if (statusCode === 401) derivations++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendOn));
  const { cpuMicros } = gateway.used();
  await agent.destroy();
  return { seconds: (cpuMicros - before.cpuMicros) / 1e6, derivations };
}

/** Processor time of one derivation at the cost that verifiers have. */
function derivationSeconds(): number {
  const runs = 20;
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run++) {
    const cost = { parallelism: 1, tagLength: 32, memory: 19_456, passes: 2 };
    argon2Sync('argon2id', { message: 'a wrong password', nonce: randomBytes(16), ...cost });
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6 / runs;
}
