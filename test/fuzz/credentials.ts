// Every kind of credential that a request may come with, good and bad.
import type { Random } from '../../packages/verify/src/random.ts';
import type { Door, Operation } from './operations.ts';

type Headers = [name: string, value: string][];

/** What was made for the campaign. */
export interface Secrets {
  readonly admin: string;
  readonly key: string;
  /** Of an account without credits, and of one that may spend nothing more. */
  readonly poorKey: string;
  readonly revokedKey: string;
  readonly token: string;
  /** May read its balance and nothing else. */
  readonly narrowToken: string;
  readonly expiredToken: string;
  readonly owner: BrowserSecrets;
  readonly operator: BrowserSecrets;
}

export interface BrowserSecrets {
  readonly cookie: string;
  readonly csrf: string;
  readonly origin: string;
}

const BAD = [
  'x',
  'sk-tg1-',
  `sk-tg1-${'A'.repeat(54)}`,
  'oat_x',
  'null',
  'k'.repeat(512),
  'k'.repeat(513),
  '\xe9',
  '../..',
];
/** How often an operation gets a credential that opens it. */
const FITTING = 0.85;

export class Credentials {
  readonly #secrets: Secrets;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  headersFor({ doors }: Operation, random: Random): Headers {
    return random.chance(FITTING) ? this.#through(random.pick(doors), random) : this.#any(random);
  }

  /** For what is written by hand. */
  headerLine(random: Random): string {
    return `Authorization: Bearer ${random.pick([this.#secrets.key, this.#secrets.admin])}`;
  }

  /** As a browser sends them, or none. */
  browserHeaders(random: Random): Headers {
    const { owner, operator } = this.#secrets;
    return random.chance(0.4) ? [] : browser(random.pick([owner, operator]));
  }

  #through(door: Door, random: Random): Headers {
    const { admin, key, token, owner, operator } = this.#secrets;
    switch (door) {
      case 'public':
        return [];
      case 'key':
        return this.#withKey(key, random);
      case 'oauth':
        return bearer(token);
      case 'session':
        return browser(random.chance(0.7) ? owner : operator);
      case 'operator':
        return bearer(admin);
    }
  }

  #withKey(key: string, random: Random): Headers {
    const name = random.weighted({ authorization: 8, 'x-api-key': 1, 'x-goog-api-key': 1, 'x-partner-api-key': 1 });
    return name === 'authorization' ? bearer(key) : [[name, key]];
  }

  #any(random: Random): Headers {
    const { admin, poorKey, revokedKey, narrowToken, expiredToken, key, token, owner, operator } = this.#secrets;
    switch (random.weighted({ none: 2, bad: 2, secret: 4, browser: 2, forged: 1, several: 1 })) {
      case 'none':
        return [];
      case 'bad':
        return bearer(random.pick(BAD));
      case 'secret':
        return bearer(random.pick([admin, poorKey, poorKey, revokedKey, narrowToken, expiredToken, key, token]));
      case 'browser':
        return browser(random.pick([owner, operator]));
      case 'forged':
        return browser({ ...owner, csrf: random.pick(['', 'x', operator.csrf]), origin: 'https://evil.example' });
      case 'several':
        return [...bearer(key), ...browser(owner), ['x-api-key', random.pick(BAD)]];
    }
  }
}

function bearer(secret: string): Headers {
  return [['Authorization', `Bearer ${secret}`]];
}

function browser({ cookie, csrf, origin }: BrowserSecrets): Headers {
  return [
    ['Cookie', cookie],
    ['X-CSRF-Token', csrf],
    ['Origin', origin],
  ];
}
