// The pages for browsers and the authorization server, which are not in /openapi.json: their forms and queries.
import type { Random } from '../../packages/verify/src/random.ts';
import type { Credentials } from './credentials.ts';
import { hostileString } from './hostile-values.ts';
import type { Draft } from './request-text.ts';

const PATHS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/'],
  ['GET', '/console'],
  ['GET', '/console/jobs/x'],
  ['GET', '/favicon.svg'],
  ['GET', '/account'],
  ['GET', '/sign-in'],
  ['POST', '/sign-in'],
  ['POST', '/sign-out'],
  ['GET', '/sign-up'],
  ['POST', '/sign-up'],
  ['GET', '/forgot-password'],
  ['POST', '/forgot-password'],
  ['GET', '/password'],
  ['POST', '/password'],
  ['GET', '/link/x'],
  ['POST', '/link/x'],
  ['GET', '/oauth/authorize'],
  ['POST', '/oauth/authorize'],
  ['GET', '/oauth/authorize/x'],
  ['GET', '/oauth/consent/x'],
  ['POST', '/oauth/consent/x'],
  ['POST', '/oauth/device'],
  ['GET', '/oauth/device'],
  ['GET', '/device'],
  ['POST', '/device'],
  ['POST', '/oauth/token'],
  ['POST', '/oauth/revoke'],
  ['POST', '/oauth/introspect'],
  ['OPTIONS', '/oauth/token'],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['GET', '/.well-known/oauth-protected-resource/mcp'],
  ['GET', '/docs'],
  ['GET', '/docs/first-call'],
  ['GET', '/docs/errors/invalid_json'],
  ['GET', '/docs/assets/docs.css'],
  ['GET', '/llms.txt'],
];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  email: ['owner@example.com', 'nobody@example.com', 'x'],
  password: ['correct horse battery', 'wrong', ''],
  name: ['x'],
  csrf: ['x', ''],
  next: ['/account', '//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:x'],
  grant_type: [
    'authorization_code',
    'refresh_token',
    'client_credentials',
    'password',
    'urn:ietf:params:oauth:grant-type:device_code',
  ],
  client_id: ['client_000000000000000000000000', 'x', ''],
  client_secret: ['x'],
  redirect_uri: ['https://app.example.com/back', 'http://127.0.0.1/x', 'x:', 'https://[::1', ''],
  response_type: ['code', 'token', 'code token', ''],
  response_mode: ['query', 'fragment', 'form_post', 'x'],
  scope: ['user:jobs', 'openid', 'user:credits user:jobs', 'x'.repeat(3_000)],
  state: ['x', 'y'.repeat(2_000)],
  code: ['x', 'z'.repeat(2_000)],
  code_verifier: ['x'.repeat(43), 'x'.repeat(129), ''],
  code_challenge: ['x'.repeat(43), ''],
  code_challenge_method: ['S256', 'plain', 'x'],
  refresh_token: ['ort_x', 'x'],
  token: ['oat_x', 'x', 'x'.repeat(600)],
  token_type_hint: ['access_token', 'refresh_token', 'x'],
  device_code: ['x'],
  user_code: ['ABCD-EFGH', 'x'],
  prompt: ['none', 'login', 'consent', 'x'],
  request: ['x', 'eyJhbGciOiJub25lIn0.e30.'],
  resource: ['https://x.example', 'x'],
  claims: ['{}', '{'],
  max_age: ['0', '-1', '1e9', 'x'],
  nonce: ['x'],
};

const TYPES = [
  ...Array<string>(8).fill('application/x-www-form-urlencoded'),
  ...['application/json', 'multipart/form-data; boundary=b', 'text/plain', ''],
];

export function pageDraft(credentials: Credentials, random: Random): Draft {
  const [method, path] = random.pick(PATHS);
  const headers = credentials.browserHeaders(random);
  const fields = fieldsOf(random);
  if (method === 'GET')
    return { method, target: `${path}${fields === '' ? '' : `?${fields}`}`, headers, body: undefined };
  headers.push(['Content-Type', random.pick(TYPES)]);
  if (random.chance(0.2)) headers.push(['Authorization', random.pick(['Basic eDp5', 'Basic !', 'Basic ', 'Bearer x'])]);
  return { method, target: path, headers, body: Buffer.from(fields, 'latin1') };
}

function fieldsOf(random: Random): string {
  const names = Object.keys(FIELDS);
  const pairs = Array.from({ length: random.whole(0, 8) }, () => {
    const name = random.pick(names);
    const value = random.chance(0.8) ? random.pick(FIELDS[name] ?? ['']) : hostileString(random);
    const text = typeof value === 'string' ? value.slice(0, 3_000) : '\0';
    return `${name}=${random.chance(0.95) ? encodeURIComponent(text.toWellFormed()) : '%ZZ%00%FF'}`;
  });
  if (random.chance(0.1)) pairs.push(random.pick(['=', '&', '%', 'a[b]=c', '__proto__=x', 'email=a&email=b']));
  return pairs.join('&');
}
