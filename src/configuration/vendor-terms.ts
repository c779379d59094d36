import { didYouMean } from '../nearest.ts';
import { excerpt } from './problems.ts';

/** What a vendor asks of the upstreams that speak its format. */
export interface VendorTerms {
  readonly name: string;
  readonly address: 'versioned' | 'origin' | 'none';
  readonly apiKey: 'required' | 'optional' | 'none';
  /** By name; what they hold is the vendor's. */
  readonly dialects?: Readonly<Record<string, unknown>>;
  /** Why no upstream can have it. */
  readonly missing?: string;
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
export function keyProblem(key: unknown, { name, apiKey: rule }: VendorTerms): string | undefined {
  if (rule === 'none') return key === undefined ? undefined : `vendor ${name} takes no key`;
  if (key === undefined) {
    return rule === 'optional' ? undefined : `vendor ${name} needs one; \${NAME} takes it from the environment`;
  }
  return undefined;
}

/** What is wrong with the name of an upstream's dialect. */
export function dialectProblem(dialect: unknown, { name, dialects = {} }: VendorTerms): string | undefined {
  const names = Object.keys(dialects);
  if (typeof dialect !== 'string' || names.includes(dialect)) return undefined;
  if (names.length === 0) return `vendor ${name} has no dialects`;
  return `expected one of ${names.join(', ')}, got ${excerpt(dialect)}${didYouMean(dialect, names)}`;
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
