import { didYouMean } from '../nearest.ts';
import { excerpt } from './problems.ts';

/** What a vendor asks of the upstreams that speak its format. */
export interface VendorTerms {
  readonly name: string;
  readonly address: 'versioned' | 'origin' | 'none';
  readonly apiKey: 'required' | 'optional' | 'none';
  /** Registered names of hosts that take no call without a key, where `apiKey` is optional. */
  readonly keyedHosts?: readonly string[];
  /** By name; what they hold is the vendor's. */
  readonly dialects?: Readonly<Record<string, unknown>>;
  /** By the `kind` of an upstream's `credential`; without one, `apiKey` alone counts. */
  readonly credentials?: Readonly<Record<string, CredentialTerms>>;
  /** Why no upstream can have it. */
  readonly missing?: string;
}

/** One way to prove who calls: whether it has a secret, which is the upstream's `api_key`, and what else it is told. */
interface CredentialTerms {
  readonly apiKey: 'required' | 'none';
  /** Settings by name. None of them is secret. */
  readonly settings: Readonly<Record<string, 'required' | 'optional'>>;
}

/** What is wrong with an upstream's address. Never quotes it: it may hold a password. */
export function addressProblem(address: unknown, { name, address: rule }: VendorTerms): string | undefined {
  if (rule === 'none') {
    return address === undefined ? undefined : `vendor ${name} runs inside the gateway and takes no address`;
  }
  if (address === undefined) return `vendor ${name} needs one, ${EXAMPLES[rule]}`;
  if (typeof address !== 'string') return undefined;
  return urlProblem(address) ?? pathProblem(new URL(address), rule);
}

/** What is wrong with an upstream's key. Never quotes it. */
export function keyProblem(
  key: unknown,
  { name, apiKey, credentials = {}, keyedHosts = [] }: VendorTerms,
  kind?: unknown,
  address?: unknown,
): string | undefined {
  if (typeof kind === 'string' && Object.hasOwn(credentials, kind)) {
    const isTaken = credentials[kind]?.apiKey === 'required';
    if (isTaken === (key !== undefined)) return undefined;
    return isTaken
      ? `a credential of kind ${kind} needs its secret here; \${NAME} takes it from the environment`
      : `a credential of kind ${kind} takes no key`;
  }
  const rule = apiKey;
  if (rule === 'none') return key === undefined ? undefined : `vendor ${name} takes no key`;
  if (key !== undefined) return undefined;
  const host = keyedHosts.find((keyed) => isHostOf(address, keyed));
  if (rule === 'optional' && host === undefined) return undefined;
  return `${host ?? `vendor ${name}`} needs one; \${NAME} takes it from the environment`;
}

function isHostOf(address: unknown, registeredName: string): boolean {
  const host = typeof address === 'string' ? URL.parse(address)?.hostname : undefined;
  return host === registeredName || host?.endsWith(`.${registeredName}`) === true;
}

/** What is wrong with the name of an upstream's dialect. */
export function dialectProblem(dialect: unknown, { name, dialects = {} }: VendorTerms): string | undefined {
  const names = Object.keys(dialects);
  if (typeof dialect !== 'string' || names.includes(dialect)) return undefined;
  if (names.length === 0) return `vendor ${name} has no dialects`;
  return `expected one of ${names.join(', ')}, got ${excerpt(dialect)}${didYouMean(dialect, names)}`;
}

/** What is wrong with an upstream's credential, by the setting where it is wrong; '' is the whole of it. */
export function credentialProblems(
  credential: Readonly<Record<string, unknown>> | undefined,
  { name, credentials = {} }: VendorTerms,
): readonly (readonly [setting: string, problem: string])[] {
  if (credential === undefined) return [];
  const kinds = Object.keys(credentials);
  if (kinds.length === 0) return [['', `vendor ${name} takes api_key alone`]];
  const { kind, ...others } = credential;
  const terms = typeof kind === 'string' && Object.hasOwn(credentials, kind) ? credentials[kind] : undefined;
  if (terms === undefined) {
    const hint = typeof kind === 'string' ? `, got ${excerpt(kind)}${didYouMean(kind, kinds)}` : '';
    return [['kind', `expected one of ${kinds.join(', ')}${hint}`]];
  }
  const known = Object.keys(terms.settings);
  const unknown = Object.keys(others).filter((setting) => !known.includes(setting));
  const missing = known.filter((setting) => terms.settings[setting] === 'required' && others[setting] === undefined);
  return [
    ...unknown.map((setting) => [setting, `a credential of kind ${String(kind)} has no such setting`] as const),
    ...missing.map((setting) => [setting, `a credential of kind ${String(kind)} needs it`] as const),
  ];
}

/** The variable that a key is to be taken from. */
export function variableOf(key: string): string | undefined {
  return /^\$\{([A-Za-z_]\w*)\}$/.exec(key)?.[1];
}

/** A key that mixes a reference with other text would be sent as it stands, which is never meant. */
export function referenceProblem(key: unknown): string | undefined {
  if (typeof key !== 'string' || !key.includes('${') || variableOf(key) !== undefined) return undefined;
  return `a reference must be the whole value, such as \${VENDOR_API_KEY}`;
}

const EXAMPLES = {
  versioned: 'with the version segment, such as https://api.example.com/v1',
  origin: 'without a path, such as https://api.example.com',
} as const;

function urlProblem(address: string): string | undefined {
  // The URL parser drops or turns these silently.
  if (/[\s\\\p{Cc}]/u.test(address)) return 'expected an address without spaces and backslashes';
  if (!URL.canParse(address)) return 'expected an http or https address';
  const url = new URL(address);
  if (!/^https?:$/.test(url.protocol)) return `expected an http or https address, got ${excerpt(url.protocol)}`;
  if (url.username !== '' || url.password !== '') return 'expected no user or password; the key belongs in api_key';
  return /[?#]/.test(address) ? 'expected an address without ? and #' : undefined;
}

function pathProblem({ pathname }: URL, rule: keyof typeof EXAMPLES): string | undefined {
  const hasPath = /[^/]/.test(pathname);
  return hasPath === (rule === 'versioned') ? undefined : `expected an address ${EXAMPLES[rule]}`;
}
