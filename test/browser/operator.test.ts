import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import { assertFitSideways, Chromium, signInByLink } from '../support/chromium.ts';
import { usedFolder } from '../support/first-start.ts';
import { addedLines, apply, joined, problemsOf, send, submit, write } from '../support/operator-console.ts';
import { adminToken, freePort, Program } from '../support/program.ts';

// What an operator does in the console, by a real browser on the real program: an upstream is added, broken, understood
// and rolled back; credits are given; and who may not operate finds nothing, or changes nothing.

const PAGES = [
  '',
  '/accounts',
  '/people',
  '/upstreams',
  '/configuration',
  '/configuration/models',
  '/configuration/versions',
  '/configuration/versions/1',
  '/requests',
  '/jobs',
  '/clients',
  '/audit',
  '/books',
] as const;

const upstream = new OpenAiEmulator({ apiKey: 'sk-right', models: ['gpt-small'] });
const browser = new Chromium();
before(() => upstream.start());
after(() => upstream.stop());

test('R-524: the operator’s console', async (t) => {
  const folder = await usedFolder(t);
  const port = await freePort();
  const program = await Program.start(t, { TOLLGATE_DATA: folder, PORT: String(port) });
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const problems = problemsOf(page);
  await signInByLink(page, program);
  const admin = adminToken(folder);
  const [account] = (await program.get('/api/admin/accounts', admin)).json.data;
  const [job] = (await program.get('/api/admin/jobs', admin)).json.data;
  const { key } = (
    await program.call('POST', `/api/admin/accounts/${account.id}/keys`, { key: admin, body: { name: 'test' } })
  ).json;
  const ask = () => program.call('POST', '/v1/chat/completions', { key, body: chatBody('house/writer') });
  const at = (path: string) => page.goto(`${program.url}/console/admin${path}`);

  await t.test('a mistake in the document is told by its line, and cannot be applied', async () => {
    await at('/configuration');
    await write(page, `${await inForce(program, admin)}\n  - id: nothing\n    modality: chat\n`);
    await page.getByRole('heading', { name: /^Problems: \d/ }).waitFor();
    await page.getByRole('button', { name: /^Line \d+: models\[\d+\]\.owned_by/ }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Review changes' }).isDisabled());
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('No changes yet.').waitFor();
  });

  await t.test('an upstream and its model are added with the schema’s help, reviewed and applied', async () => {
    const document = await inForce(program, admin);
    const [upstreams = '', models = ''] = document.split(/^(?=models:)/m);
    await write(page, `${models.trimEnd()}\n${MODEL}${upstreams.trimEnd()}\n  - id: second\n    vendor: opena`);
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /^openai/ }).click();
    await page.keyboard.insertText(`\n    base_url: ${upstream.url}\n    api_key: sk-right\n`);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByText('+ upstream second').waitFor();
    await page.getByText('+ model house/writer').waitFor();
    assert.match(await addedLines(page), /- id: second\n {4}vendor: openai\n/);
    await page.getByRole('row', { name: /house\/writer.*new/ }).waitFor();
    await apply(page);
    await page.getByRole('tab', { name: 'Models and prices' }).click();
    await page.getByRole('row', { name: /house\/writer.*3 per 1,000 tokens in.*second \/ gpt-small/ }).waitFor();
    assert.equal((await ask()).status, 200);
    assert.ok(!(await page.content()).includes('sk-right'));
  });

  await t.test('a broken upstream tells why, in its own words', async () => {
    const closed = await freePort();
    await at('/configuration');
    const moved = (await inForce(program, admin)).replace(upstream.url, `http://127.0.0.1:${closed}/v1`);
    await write(page, moved);
    // A key that is kept would go to another address, so it must be given again.
    await page.getByRole('button', { name: /^Line \d+: upstreams\[1\]\.api_key/ }).waitFor();
    await write(page, moved.replace('"********"', 'sk-right'));
    await page.getByRole('button', { name: 'Review changes' }).click();
    await apply(page);
    while ((await ask()).status !== 503);
    await at('/upstreams');
    const panel = page.getByRole('region', { name: 'second', exact: true });
    await panel.getByText(`ECONNREFUSED 127.0.0.1:${closed}`).first().waitFor();
    await panel.getByText('breaker open').first().waitFor();
    await panel.getByRole('button', { name: 'Test' }).click();
    await panel.getByText('It does not work.').waitFor();
    await page.getByText('No upstream answers for these models:').waitFor();
    await at('');
    await page.getByRole('row', { name: /second \/ gpt-small.*breaker open/ }).waitFor();
    await at('/requests?status=error');
    await page
      .getByRole('row', { name: /house\/writer.*no_available_provider/ })
      .first()
      .waitFor();
  });

  await t.test('rolling back brings the working one into force again', async () => {
    await at('/configuration/versions/2');
    await page.getByRole('heading', { name: 'What rolling back would change' }).waitFor();
    await page.getByRole('button', { name: 'Roll back to it' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back to it' }).click();
    await page.getByRole('row', { name: /^4.*in force/ }).waitFor();
    await at('/upstreams');
    const panel = page.getByRole('region', { name: 'second', exact: true });
    await panel.getByRole('button', { name: 'Test' }).click();
    await panel.getByText('It answers.').waitFor();
    await panel.getByRole('button', { name: 'Reset' }).click();
    await panel.getByText('breaker open').waitFor({ state: 'detached' });
    assert.equal((await ask()).status, 200);
  });

  await t.test('R-522: credits that are given and taken back are in the balance, to the micro-credit', async () => {
    await at(`/accounts/${account.id}`);
    const balance = async () => (await program.get('/v1/credits', key)).json.available as number;
    const before = await balance();
    await submit(page, 'Give credits', { Credits: '123.456789', Reference: 'order 1' });
    await page.getByRole('row', { name: /order 1.*123\.456789/ }).waitFor();
    await page
      .getByRole('region')
      .or(page.locator('.panel'))
      .getByText(creditsText(before + 123.456789))
      .first()
      .waitFor();
    assert.equal(micro(await balance()), micro(before) + 123_456_789);
    await submit(page, 'Take back', { Credits: '23.456789', Reason: 'a test' });
    await page
      .getByText(creditsText(before + 100))
      .first()
      .waitFor();
    await at(`/audit?target=${account.id}`);
    await page.getByRole('row', { name: /credits\.revoke.*a test/ }).waitFor();
    await at('/books');
    await page.getByRole('button', { name: 'Full check' }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('balanced').waitFor();
  });

  await t.test('R-525: no page scrolls sideways, in light, dark or on a phone', async () => {
    const details = [`/accounts/${account.id}`, `/accounts/${account.id}?tab=ledger`, `/jobs/${job.id}`];
    const urls = [...PAGES, ...details].map((path) => `${program.url}/console/admin${path}`);
    await assertFitSideways(page, urls);
  });

  await t.test('R-525: an auditor sees everything and changes nothing', async () => {
    await at('/people');
    await submit(page, 'Invite an operator', { 'E-mail address': 'auditor@example.com' }, 'Invite');
    const link = (await page.getByTestId('shown-once').textContent()) ?? '';
    const auditor = await joined(browser, link);
    t.after(() => auditor.close());
    const theirs = await auditor.newPage();
    for (const path of [...PAGES, `/accounts/${account.id}`]) {
      await theirs.goto(`${program.url}/console/admin${path}`);
      await theirs.getByRole('heading', { level: 1 }).waitFor();
      await theirs.waitForLoadState('networkidle');
      for (const name of CHANGES)
        assert.equal(await theirs.getByRole('button', { name }).count(), 0, `${path} ${name}`);
      assert.equal(await theirs.getByRole('main').getByRole('switch').count(), 0, path);
    }
    await theirs.goto(`${program.url}/console/admin/configuration`);
    const editor = theirs.getByRole('textbox', { name: 'Configuration document' });
    await editor.click();
    await theirs.keyboard.insertText('changed');
    assert.ok(!(await editor.textContent())?.includes('changed'));
    const refused = await send(auditor, program.url, 'POST', '/api/admin/accounts', { name: 'x' });
    assert.deepEqual([refused.status, refused.code], [403, 'insufficient_role']);
  });

  await t.test('R-525: a member finds nothing there, and every route of operators is 404', async () => {
    const invited = await program.call('POST', `/api/admin/accounts/${account.id}/invitations`, {
      key: admin,
      body: { email: 'member@example.com', role: 'owner' },
    });
    const member = await joined(browser, invited.json.url);
    t.after(() => member.close());
    const theirs = await member.newPage();
    for (const path of PAGES) {
      await theirs.goto(`${program.url}/console/admin${path}`);
      await theirs.getByText('There is nothing at this address.').waitFor();
      assert.equal(await theirs.getByText('Operator', { exact: true }).count(), 0);
    }
    const { json } = await program.get('/openapi.json');
    const routes = Object.entries<object>(json.paths).filter(([path]) => path.startsWith('/api/admin/'));
    assert.ok(routes.length > 30);
    for (const [path, methods] of routes) {
      for (const method of Object.keys(methods)) {
        const url = path.replace(/\{\w+\}/g, account.id);
        const { status } = await send(
          member,
          program.url,
          method.toUpperCase(),
          url,
          method === 'get' ? undefined : {},
        );
        assert.equal(status, 404, `${method} ${path}`);
      }
    }
  });
  assert.deepEqual(problems, []);
  assert.equal((await program.get('/api/admin/books?full=1', admin)).json.balanced, true);
});

const MODEL = `  - id: house/writer
    modality: chat
    owned_by: house
    endpoints: [chat]
    context_tokens: 32000
    max_output_tokens: 4000
    pricing:
      mode: per_token
      credits: { input_per_k: 3, output_per_k: 15 }
    routes:
      - { upstream: second, model: gpt-small }
`;

/** What only an operator is offered. */
const CHANGES = [
  'Make an account',
  'Give credits',
  'Take back',
  'Suspend',
  'Edit',
  'Invite an operator',
  'Password link',
  'Register an app',
  'Test',
  'Reset',
  'Review changes',
  'Roll back to it',
] as const;

function chatBody(model: string) {
  return { model, messages: [{ role: 'user', content: 'Hello' }] };
}

async function inForce(program: Program, token: string): Promise<string> {
  return (await program.get('/api/admin/config?format=yaml', token)).text;
}

function micro(credits: number): number {
  return Math.round(credits * 1_000_000);
}

function creditsText(credits: number): string {
  return new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 }).format(credits);
}
