import type { CloudSettings } from '../../cloud-settings.ts';
import { UpstreamError } from '../../errors.ts';
import { TOKEN_TIMEOUT_MS } from '../../limits.ts';
import type { Upstream } from './http.ts';
import { requiredString } from './json.ts';
import { asTokenFault, type Token } from './tokens.ts';
import { defineWire } from './wire.ts';

/** A metadata server that does not know the identity yet (404, 410) is asked again; other refusals are the operator's. */
const wire = defineWire({
  headers: () => ({}),
  faults: { statuses: { 400: 'account', 404: 'server', 410: 'server', 422: 'account' } },
});

/** One request for a token: with a form it is a POST. */
export interface TokenCall {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
}

/**
 * Asks a server that gives tokens, as OAuth has it: `access_token` and `expires_in`. It is asked for all calls that wait
 * for the token, so none of them can abort it.
 */
export function fetchToken({ pools }: Upstream, { url, headers = {}, form }: TokenCall): Promise<Token> {
  const { signal } = new AbortController();
  const asker = { model: '', address: url.origin, apiKey: '', timeoutMs: TOKEN_TIMEOUT_MS, signal, pools };
  const content = form && new URLSearchParams(form).toString();
  const body = content === undefined ? {} : { body: { type: 'application/x-www-form-urlencoded', content } };
  return asTokenFault(url.host, async () => {
    const answer = await wire.json(asker, { path: url, headers, ...body });
    const seconds = Number(answer.expires_in);
    if (!(seconds > 0)) throw new UpstreamError('garbled', 'a token without expires_in');
    return { value: requiredString(answer, 'access_token'), lifetimeMs: seconds * 1000 };
  });
}

/**
 * Throws UpstreamError where what the process's own identity is good for would leave the cloud. The identity is the
 * deployment's and not the configuration's, so only the environment can name further hosts.
 */
export function requireCloudHost(address: string, own: RegExp, { hosts }: CloudSettings): void {
  const { protocol, hostname, host } = new URL(address);
  if ((protocol === 'https:' && own.test(hostname)) || hosts.includes(host) || hosts.includes(hostname)) return;
  throw new UpstreamError('config', `${host} is no host of this cloud; TOLLGATE_CLOUD_HOSTS can name it`);
}
