import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const argon2Async = promisify(argon2);

/** What one derivation costs. */
interface Cost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** The memory-constrained recommendation of OWASP for argon2id. */
const COST: Cost = { memoryKib: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
const ENCODED =
  /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** In the standard encoded form, which carries its own cost: the cost can be raised without losing old passwords. */
export async function hashPassword(password: string, cost: Cost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await derive(password, salt, cost, TAG_BYTES);
  const { memoryKib, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

export interface PasswordCheck {
  readonly matches: boolean;
  /** The verifier was made at another cost than today's, and is to be made anew while the password is at hand. */
  readonly isOutdated: boolean;
}

/** Costs the same for a person without a verifier, so that its time does not tell whether there is one. */
export async function checkPassword(password: string, verifier: string | null): Promise<PasswordCheck> {
  const [, memory, passes, lanes, salt, tag] = ENCODED.exec(verifier ?? '') ?? [];
  if (salt === undefined || tag === undefined) {
    await derive(password, Buffer.alloc(SALT_BYTES), COST, TAG_BYTES);
    return { matches: false, isOutdated: false };
  }
  const cost = { memoryKib: Number(memory), passes: Number(passes), parallelism: Number(lanes) };
  const expected = Buffer.from(tag, 'base64');
  const derived = await derive(password, Buffer.from(salt, 'base64'), cost, expected.length);
  const isOutdated =
    cost.memoryKib !== COST.memoryKib || cost.passes !== COST.passes || cost.parallelism !== COST.parallelism;
  return { matches: timingSafeEqual(derived, expected), isOutdated };
}

async function derive(password: string, salt: Buffer, cost: Cost, tagLength: number): Promise<Buffer> {
  return argon2Async('argon2id', {
    message: password.normalize('NFKC'),
    nonce: salt,
    parallelism: cost.parallelism,
    tagLength,
    memory: cost.memoryKib,
    passes: cost.passes,
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
