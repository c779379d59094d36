import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN_TOKEN } from './support/gateway.ts';
import { CALLBACK } from './support/oauth.ts';
import { ownDatabase, type Program } from './support/program.ts';
import { startRecorded } from './support/recorded-program.ts';

test('the library of the authorization server is loaded for the first request to it, or at the start where an app is registered', async (t) => {
  const settings = await ownDatabase(t);
  const { program, modules } = await startRecorded(t, settings);
  const loaded = () => modules().filter((url) => url.includes('/node_modules/oidc-provider/')).length;
  const metadata = await program.call('GET', '/.well-known/oauth-authorization-server');
  assert.equal(metadata.status, 200, metadata.text);
  assert.equal(loaded(), 0);
  const first = await Promise.all([authorization(program), authorization(program)]);
  assert.deepEqual(first, [NO_SUCH_APP, NO_SUCH_APP]);
  assert.ok(loaded() > 0);
  const app = { name: 'Sketchbook', redirect_uris: [CALLBACK], scopes: ['user:credits'] };
  const registered = await program.call('POST', '/api/admin/oauth/clients', { key: ADMIN_TOKEN, body: app });
  assert.equal(registered.status, 200, registered.text);
  const next = await startRecorded(t, settings);
  assert.ok(next.modules().some((url) => url.includes('/node_modules/oidc-provider/')));
  assert.deepEqual(await authorization(next.program), NO_SUCH_APP);
});

test('the mail library is loaded where a mail server is set', async (t) => {
  const isLoaded = (modules: string[]) => modules.some((url) => url.includes('/node_modules/nodemailer/'));
  const without = await startRecorded(t, await ownDatabase(t));
  assert.ok(!isLoaded(without.modules()));
  const mail = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Tollgate <gate@example.com>' };
  const withMail = await startRecorded(t, { ...(await ownDatabase(t)), ...mail });
  assert.ok(isLoaded(withMail.modules()));
});

const NO_SUCH_APP = [400, 'text/html; charset=utf-8'];

async function authorization(program: Program): Promise<unknown[]> {
  const { status, headers } = await program.call('GET', '/oauth/authorize?client_id=nobody');
  return [status, headers['content-type']];
}
