import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { sniff } from '../../src/media/index.ts';
import { Chromium, signInByLink } from '../support/chromium.ts';
import { usedFolder } from '../support/first-start.ts';
import { freePort, Program } from '../support/program.ts';

// The walk of docs/oauth.md by a real browser: the printed link, a key, an app, consent, and a picture made with its token.

const APP = fileURLToPath(new URL('../../examples/oauth-app.mjs', import.meta.url));

const browser = new Chromium();

test('from the printed link to a picture that an app made', async (t) => {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const program = await Program.start(t, { TOLLGATE_DATA: await usedFolder(t), PORT: String(port) });
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    // The app's own page is not ours, and gone by the time the browser asks for its icon.
    if (message.type() === 'error' && message.location().url.startsWith(origin)) problems.push(message.text());
  });

  await signInByLink(page, program);
  const key = await newKey(page);
  assert.equal((await program.get('/v1/models', key)).status, 200);

  const client = await registered(page, origin);
  const app = await AppRun.start(origin, client);
  t.after(() => app.end());
  await page.goto(app.address);
  await page.getByText('A test app').first().waitFor();
  await page.getByText('Make and edit images').waitFor();
  await page.getByLabel('Spend at most').fill('25');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText('You can close this page').waitFor();
  assert.equal(await app.code(), 0, app.said);
  assert.match(app.said, /app-picture\.png for 10 credits/);
  assert.equal(sniff(await readFile(join(app.folder, 'app-picture.png')))?.mimeType, 'image/png');

  await page.goto(`${origin}/console/apps`);
  await page
    .getByRole('row', { name: /A test app.*10 of 25/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No app may act for this account.').waitFor();
  assert.deepEqual(problems, []);
});

async function newKey(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Make a key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('from the browser');
  await dialog.getByRole('button', { name: 'Make a key' }).click();
  return (await page.getByTestId('new-key').textContent()) ?? '';
}

/** As the operator who is signed in, through the browser's own request. */
async function registered(page: Page, origin: string): Promise<string> {
  const session = await (await page.request.get(`${origin}/api/console/session`)).json();
  const answer = await page.request.post(`${origin}/api/admin/oauth/clients`, {
    headers: { origin, 'x-csrf-token': session.csrf_token },
    data: {
      name: 'A test app',
      redirect_uris: ['http://127.0.0.1/callback'],
      scopes: ['user:inference:image', 'user:jobs'],
    },
  });
  assert.equal(answer.status(), 200, await answer.text());
  return (await answer.json()).id;
}

/** The example app as its reader runs it, in an empty folder. */
class AppRun {
  readonly folder: string;
  readonly #child: ReturnType<typeof spawn>;
  readonly #lines: string[] = [];
  readonly #exited: Promise<number | null>;

  private constructor(folder: string, child: ReturnType<typeof spawn>) {
    this.folder = folder;
    this.#child = child;
    this.#exited = once(child, 'exit').then(([code]) => code);
  }

  /** Resolves once it has said which address to open. */
  static async start(origin: string, client: string): Promise<AppRun> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-app-'));
    const child = spawn(process.execPath, [APP, origin, client], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const run = new AppRun(folder, child);
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => run.#lines.push(line));
    while (run.address === '') await once(lines, 'line');
    return run;
  }

  get address(): string {
    return this.#lines.find((line) => line.startsWith('http')) ?? '';
  }

  get said(): string {
    return this.#lines.join('\n');
  }

  code(): Promise<number | null> {
    return this.#exited;
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
    await rm(this.folder, { recursive: true, force: true });
  }
}
