import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '../config.ts';
import type { ConfigDocument, ConfigUpstream } from './document.ts';
import { type Finding, refuseUnlocated } from './problems.ts';
import { variableOf } from './vendor-terms.ts';

/** Stands for a key that is not shown. In a document being applied it means: keep the one in force. */
export const MASKED_KEY = '********';

/** A document that was applied, with the key of each upstream that has one. */
export interface DocumentInForce {
  readonly document: ConfigDocument;
  readonly secrets: ReadonlyMap<string, string>;
}

/**
 * The key of each upstream, by the upstream's id: as written, from the environment, or the one in force. Throws
 * DocumentError with every key that cannot be had; `refuse` of its source tells the lines as well.
 */
export function resolveSecrets(
  document: ConfigDocument,
  env: Environment,
  current?: DocumentInForce,
  refuse: Refuse = refuseUnlocated,
): { readonly secrets: ReadonlyMap<string, string> } {
  return { secrets: collect(document, (upstream) => findSecret(upstream, env, current), refuse) };
}

/** Throws DocumentError unless there are no findings. */
type Refuse = (findings: readonly Finding[]) => void;

/** The part of it that needs no configuration in force. Throws DocumentError with every variable that gives no key. */
export function checkVariables(document: ConfigDocument, env: Environment): void {
  collect(
    document,
    (upstream) => (upstream.api_key === MASKED_KEY ? { state: 'none' } : findSecret(upstream, env, undefined)),
    refuseUnlocated,
  );
}

function collect(
  document: ConfigDocument,
  find: (upstream: ConfigUpstream) => SecretLookup,
  refuse: Refuse,
): Map<string, string> {
  const secrets = new Map<string, string>();
  const findings: Finding[] = [];
  for (const [index, upstream] of document.upstreams.entries()) {
    const lookup = find(upstream);
    if (lookup.state === 'found') secrets.set(upstream.id, lookup.secret);
    if (lookup.state === 'refused') {
      findings.push({ path: ['upstreams', index, 'api_key'], problem: lookup.problem });
    }
  }
  refuse(findings);
  return secrets;
}

/** The document as it may be shown. References to the environment stay as written: they are no secret. */
export function maskDocument(document: ConfigDocument): ConfigDocument {
  return { ...document, upstreams: document.upstreams.map(maskUpstream) };
}

/** The document as it was written, with its keys. References to the environment stay references. */
export function unmaskDocument({ document, secrets }: DocumentInForce): ConfigDocument {
  const upstreams = document.upstreams.map((upstream) => {
    const secret = upstream.api_key === MASKED_KEY ? secrets.get(upstream.id) : undefined;
    return secret === undefined ? upstream : { ...upstream, api_key: secret };
  });
  return { ...document, upstreams };
}

function maskUpstream(upstream: ConfigUpstream): ConfigUpstream {
  const { api_key } = upstream;
  return api_key === undefined || variableOf(api_key) !== undefined ? upstream : { ...upstream, api_key: MASKED_KEY };
}

type SecretLookup =
  | { readonly state: 'none' }
  | { readonly state: 'found'; readonly secret: string }
  | { readonly state: 'refused'; readonly problem: string };

function findSecret(upstream: ConfigUpstream, env: Environment, current: DocumentInForce | undefined): SecretLookup {
  const { api_key } = upstream;
  if (api_key === undefined) return { state: 'none' };
  if (api_key === MASKED_KEY) return secretInForce(upstream, current);
  const variable = variableOf(api_key);
  return variable === undefined ? { state: 'found', secret: api_key } : secretFromEnvironment(variable, env);
}

/** A stored key stays with its address, vendor, dialect and credential: after a change it would be sent to another place. */
function secretInForce(upstream: ConfigUpstream, current: DocumentInForce | undefined): SecretLookup {
  const before = current?.document.upstreams.find(({ id }) => id === upstream.id);
  const secret = current?.secrets.get(upstream.id);
  if (before === undefined || secret === undefined) {
    return refused(`no key of upstream ${upstream.id} is in force that could be kept; write the key itself`);
  }
  const isSame = (['vendor', 'base_url', 'dialect'] as const).every((name) => before[name] === upstream[name]);
  if (!isSame || !isDeepStrictEqual(before.credential, upstream.credential)) {
    return refused('a key is kept only with the same vendor, base_url, dialect and credential; write the key itself');
  }
  return { state: 'found', secret };
}

function secretFromEnvironment(variable: string, env: Environment): SecretLookup {
  if (OWN_VARIABLES.test(variable)) return refused(`${variable} is the gateway's own and is not sent to an upstream`);
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (value === undefined || value === '') return refused(`the environment variable ${variable} is not set`);
  // It becomes a header, where a line break would begin another.
  if (!/^[\x21-\x7e]+$/.test(value)) return refused(`${variable} holds more than printable ASCII without spaces`);
  return { state: 'found', secret: value };
}

/** Case is ignored because it is on Windows. */
const OWN_VARIABLES = /^(TOLLGATE_|AWS_|DATABASE_|REDIS_URL|PGPASS)/i;

function refused(problem: string): SecretLookup {
  return { state: 'refused', problem };
}

/** The variables that a document takes keys from and that this environment does not have. */
export function unsetVariables(document: ConfigDocument, env: Environment): readonly string[] {
  const names = document.upstreams.flatMap(({ api_key }) => variableOf(api_key ?? '') ?? []);
  return [...new Set(names)].filter((name) => (env[name] ?? '') === '');
}
