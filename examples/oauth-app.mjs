// A command-line app that acts for a person: it sends them to Tollgate's consent page, trades the code for a token, and
// makes a picture with it. Node 20 and nothing else.
//
//   node examples/oauth-app.mjs http://127.0.0.1:8787 client_…
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [base, clientId] = process.argv.slice(2);
if (base === undefined || clientId === undefined) {
  console.error('usage: node oauth-app.mjs BASE_URL CLIENT_ID');
  process.exit(2);
}

const server = await json(`${base}/.well-known/oauth-authorization-server`);

// The redirect of a native app is a loopback address; its port is not part of the registration.
const listener = createServer().listen(0, '127.0.0.1');
await once(listener, 'listening');
const redirectUri = `http://127.0.0.1:${listener.address().port}/callback`;

const state = randomBytes(16).toString('base64url');
const verifier = randomBytes(32).toString('base64url');
const authorize = new URL(server.authorization_endpoint);
authorize.search = new URLSearchParams({
  response_type: 'code',
  client_id: clientId,
  redirect_uri: redirectUri,
  scope: 'user:inference:image user:jobs',
  state,
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
}).toString();
console.log(`Open this address in the browser where you are signed in:\n${authorize}`);

const code = await callback();
const token = await json(server.token_endpoint, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
  }),
});
console.log(`Allowed: ${token.scope}`);

const headers = { authorization: `Bearer ${token.access_token}` };
let job = await json(`${base}/v1/images/generations`, {
  method: 'POST',
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'sandbox/image', prompt: 'a toll gate in the rain' }),
});
while (job.status === 'queued' || job.status === 'running') {
  await sleep(1000);
  job = await json(`${base}/v1/jobs/${job.id}`, { headers });
}
if (job.status !== 'succeeded') throw new Error(`the job ended as ${job.status}`);
const content = await fetch(`${base}/v1/jobs/${job.id}/content`, { headers });
await writeFile('app-picture.png', Buffer.from(await content.arrayBuffer()));
console.log(`app-picture.png for ${job.usage.credits} credits`);

/** The code that the browser brings back, if it comes from the server that was asked and belongs to this request. */
async function callback() {
  const [request, response] = await once(listener, 'request');
  const answer = new URL(request.url, redirectUri).searchParams;
  response.setHeader('connection', 'close').end('Done. You can close this page.');
  listener.close();
  if (answer.get('state') !== state) throw new Error('this answer belongs to another request');
  if (answer.get('iss') !== server.issuer) throw new Error('this answer comes from another server');
  if (answer.has('error')) throw new Error(`not allowed: ${answer.get('error')}`);
  return answer.get('code');
}

async function json(url, options) {
  const response = await fetch(url, options);
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body;
}
