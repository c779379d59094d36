import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { assertFitSideways, Chromium, signInByLink } from '../support/chromium.ts';
import { usedFolder } from '../support/first-start.ts';
import { adminToken, freePort, Program } from '../support/program.ts';

// What an account holder does in the console, by a real browser on the real program: a key, a call, its receipt, the
// ledger's export, two tabs, a session that ends elsewhere, and a network that goes away.

const PASSWORD = 'a password of the browser test';
const PAGES = ['', '/activity', '/keys', '/credits', '/apps', '/members', '/profile'] as const;

const browser = new Chromium();

test('R-523: the account holder’s console', async (t) => {
  const folder = await usedFolder(t);
  const port = await freePort();
  const settings = { TOLLGATE_DATA: folder, PORT: String(port) };
  let program = await Program.start(t, settings);
  const context = await browser.newContext({ acceptDownloads: true });
  t.after(() => context.close());
  const page = await context.newPage();
  const problems = problemsOf(page);
  await signInByLink(page, program);
  let key = '';

  await t.test('a key is made, shown once, and calls the API', async () => {
    key = await makeKey(page, 'from the console');
    assert.equal((await program.get('/v1/models', key)).status, 200);
    await page.reload();
    await page.getByRole('row', { name: /from the console/ }).waitFor();
    assert.ok(!(await page.content()).includes(key.slice(12)));
  });

  await t.test('R-523: the balance changes by exactly what the receipt says, line by line', async () => {
    const balance = async () => (await program.get('/v1/credits', key)).json.available as number;
    const before = await balance();
    const messages = [{ role: 'user', content: 'What is 12 * 7?' }];
    const { headers, json } = await program.call('POST', '/v1/chat/completions', {
      key,
      body: { model: 'sandbox/chat', messages },
    });
    const spent = micro(before) - micro(await balance());
    assert.equal(micro(json.usage.credits), spent);
    await openRequest(page, program.url, headers['x-request-id'] ?? '');
    const lines = await tableOf(page, 'Receipt');
    const charged = lines.at(-1) ?? assert.fail('the receipt is empty');
    assert.deepEqual([charged[0], micro(charged[2])], ['Charged', spent]);
    for (const [what = '', sum = '', credits] of lines.filter(([name]) => name?.endsWith('tokens'))) {
      const [count = 0, per = 0, rate = 0] = sum.split(/[÷×]/).map(numberOf);
      assert.equal(micro((count / per) * rate), micro(credits), what);
    }
    const entries = await tableOf(page, 'Ledger');
    assert.equal(
      entries.reduce((total, row) => total + micro(row[3]), 0),
      -spent,
    );
    await page.goto(`${program.url}/console/credits`);
    await page
      .getByText(creditsText(await balance()))
      .first()
      .waitFor();
  });

  await t.test('a request that failed says why and what helps', async () => {
    const body = { model: 'nobody/nothing', messages: [{ role: 'user', content: 'x' }] };
    const { headers, status } = await program.call('POST', '/v1/chat/completions', { key, body });
    assert.equal(status, 404);
    await openRequest(page, program.url, headers['x-request-id'] ?? '');
    await page.getByText('There is no such model for this key.').waitFor();
    await page.getByText('Nothing was held or charged for this request.').waitFor();
    await page.goto(`${program.url}/console/activity?code=model_not_found`);
    await page.getByText('nobody/nothing').waitFor();
    assert.equal((await tableOf(page, 'Activity')).length, 1);
  });

  await t.test(
    'R-524: the exported ledger sums up to the balance, and the exported requests to what was spent',
    async () => {
      const { available, reserved, spent } = (await program.get('/v1/credits', key)).json;
      assert.equal(reserved, 0);
      await page.goto(`${program.url}/console/credits`);
      const ledger = await exported(page);
      assert.equal(sumOf(ledger, 'amount'), micro(available));
      assert.equal(sumOf(ledger, 'charged'), micro(spent));
      await page.goto(`${program.url}/console/activity`);
      assert.equal(sumOf(await exported(page), 'credits'), micro(spent));
    },
  );

  await t.test('what is changed in one tab is seen in the other, and a disabled key is refused', async () => {
    const other = await context.newPage();
    await other.goto(`${program.url}/console/keys`);
    await other
      .getByRole('row', { name: /from the console/ })
      .getByRole('switch')
      .locator('..')
      .click();
    await other.getByRole('row', { name: /from the console.*disabled/ }).waitFor();
    assert.equal((await program.get('/v1/models', key)).status, 401);
    await page.goto(`${program.url}/console/keys`);
    await page.getByRole('row', { name: /from the console.*disabled/ }).waitFor();
    await other.close();
  });

  await t.test('a rolled key is shown once, and the old one works on for the overlap', async () => {
    const old = await makeKey(page, 'to be rolled');
    await page.getByRole('button', { name: 'More for to be rolled' }).click();
    await page.getByRole('menuitem', { name: 'Roll' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll' }).click();
    const shown = page.getByTestId('new-key');
    await shown.filter({ hasNotText: old }).waitFor();
    const made = (await shown.textContent()) ?? '';
    for (const each of [old, made]) assert.equal((await program.get('/v1/models', each)).status, 200);
    await page.getByRole('row', { name: /to be rolled.*(tomorrow|in 1 day|in \d+ hours)/ }).waitFor();
  });

  await t.test('a deleted key is gone for good, after being asked once', async () => {
    const row = page.getByRole('row', { name: /from the console/ });
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    assert.equal((await program.get('/v1/models', key)).status, 401);
  });

  await t.test('R-525: no page scrolls sideways, in light, dark or on a phone', async () => {
    const urls = PAGES.map((path) => `${program.url}/console${path}`);
    await assertFitSideways(page, urls);
  });

  await t.test('an invitation’s link is shown once, works, and a withdrawn one does not', async () => {
    await page.goto(`${program.url}/console/members`);
    const link = await invite(page, 'ada@example.com');
    const guest = await browser.newContext();
    t.after(() => guest.close());
    const guestPage = await guest.newPage();
    await guestPage.goto(link);
    await guestPage.getByText('ada@example.com').or(guestPage.locator('[value="ada@example.com"]')).first().waitFor();
    const row = page.getByRole('row', { name: /ada@example\.com/ });
    await row.getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await row.waitFor({ state: 'detached' });
    await guestPage.reload();
    await guestPage.getByText('This link does not work any more').waitFor();
  });

  await t.test('offline it says so, and is itself again when the network is back', async () => {
    await page.goto(`${program.url}/console/credits`);
    await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    await context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await context.setOffline(false);
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
  });
  assert.deepEqual(problems, []);

  await t.test('a gateway that is restarted in the middle is waited for, and nothing is lost', async () => {
    await page.goto(`${program.url}/console/credits`);
    await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    // Without the time, which is told as long ago.
    const entries = async () => (await tableOf(page, 'Ledger')).map((row) => row.slice(1));
    const before = await entries();
    assert.equal(await program.kill('SIGTERM'), 0);
    await page.getByLabel('From day').fill('2001-01-01');
    await page.getByText('The gateway cannot be reached.').waitFor();
    program = await Program.start(t, settings);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    assert.deepEqual(await entries(), before);
  });

  await t.test('a session that was ended elsewhere leads to signing in, and back to the same place', async () => {
    await setPassword(page, program, adminToken(folder));
    const elsewhere = await signedIn(program.url);
    t.after(() => elsewhere.close());
    const there = await elsewhere.newPage();
    await there.goto(`${program.url}/console/profile`);
    const old = await context.newPage();
    await old.goto(`${program.url}/console/keys`);
    await old.getByRole('heading', { name: 'API keys' }).waitFor();
    await page.goto(`${program.url}/console/activity?status=ok`);
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await endOthers(there);
    await page.getByRole('link', { name: 'Credits', exact: true }).click();
    await page.waitForURL(/\/sign-in\?next=/);
    await page.getByLabel('Email').fill('demo@tollgate.localhost');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(/\/console\/credits/);
    await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    // The other tab has the token of the session before, and works on with the new one.
    assert.match(await makeKey(old, 'from an old tab'), /^sk-tg1-/);
  });
});

/** Errors that a page of the console reports; those of requests that are meant to fail are none. */
function problemsOf(page: Page): readonly string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    const isNetwork = message.text().includes('ERR_INTERNET_DISCONNECTED');
    if (message.type() === 'error' && !isNetwork) problems.push(message.text());
  });
  return problems;
}

async function makeKey(page: Page, name: string): Promise<string> {
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Make a key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Make a key' }).click();
  return (await page.getByTestId('new-key').textContent()) ?? '';
}

async function invite(page: Page, email: string): Promise<string> {
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email').fill(email);
  await dialog.getByRole('button', { name: 'Invite' }).click();
  return (await page.getByTestId('invitation-link').textContent()) ?? '';
}

/** By the list and its row, as a person gets there. */
async function openRequest(page: Page, url: string, requestId: string): Promise<void> {
  await page.goto(`${url}/console/activity?request_id=${requestId}`);
  await page.getByRole('table', { name: 'Activity' }).locator('tbody tr td a').first().click();
  await page.getByRole('heading', { name: 'Receipt' }).waitFor();
}

/** The texts of a table's cells. */
async function tableOf(page: Page, name: string): Promise<readonly (readonly string[])[]> {
  const rows = page.getByRole('table', { name }).locator('tbody tr');
  await rows.first().waitFor();
  return rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent?.trim() ?? '')),
  );
}

/** The file behind the page's button, as rows by the names of its columns. */
async function exported(page: Page): Promise<readonly Readonly<Record<string, string>>[]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download CSV' }).click(),
  ]);
  const [head = '', ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((field, place) => [names[place], field])));
}

function sumOf(rows: readonly Readonly<Record<string, string>>[], column: string): number {
  return rows.reduce((sum, row) => sum + micro(row[column]), 0);
}

function numberOf(text: string): number {
  return Number(text.replaceAll(',', ''));
}

function micro(credits: number | string | undefined): number {
  return Math.round((typeof credits === 'number' ? credits : numberOf(credits ?? '')) * 1_000_000);
}

function creditsText(credits: number): string {
  return new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 }).format(credits);
}

/** The first password, by an operator's link; the page stays signed in by it. */
async function setPassword(page: Page, program: Program, token: string): Promise<void> {
  const { json } = await program.get('/api/admin/people', token);
  const path = `/api/admin/people/${json.data[0].id}/password-link`;
  const link = await program.call('POST', path, { key: token, body: {} });
  await page.goto(link.json.url);
  await page.getByLabel('New password').or(page.getByLabel('Password')).first().fill(PASSWORD);
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

async function signedIn(url: string): Promise<BrowserContext> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('Email').fill('demo@tollgate.localhost');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.close();
  return context;
}

/** Every session but the one that this page is in. */
async function endOthers(page: Page): Promise<void> {
  const others = page.getByRole('table', { name: 'Sessions' }).locator('tbody tr').filter({ hasNotText: 'this one' });
  await others.first().waitFor();
  while ((await others.count()) > 0) {
    const left = await others.count();
    await others.first().getByRole('button', { name: 'End' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await others.nth(left - 1).waitFor({ state: 'detached' });
  }
}
