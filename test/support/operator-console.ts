import type { BrowserContext, Page } from 'playwright-core';
import type { Chromium } from './chromium.ts';

// The operator's pages as a person uses them.

const PASSWORD = 'a password of the browser test';

/** Errors that a page reports itself; a request that is refused is meant to be. */
export function problemsOf(page: Page): readonly string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  // Leaving an edited document asks once.
  page.on('dialog', (dialog) => void dialog.accept());
  return problems;
}

/** Puts this text in the place of the editor's. */
export async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Configuration document' }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

export async function apply(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText(/^Version \d+ is in force\.$/).waitFor();
}

export async function addedLines(page: Page): Promise<string> {
  const cells = page.locator('.diff tr[data-kind=added] td:last-child');
  return `${(await cells.allTextContents()).join('\n')}\n`;
}

/** Opens a form by its button, fills it in, and waits until the gateway has said yes. */
export async function submit(
  page: Page,
  name: string,
  fields: Readonly<Record<string, string>>,
  send = name,
): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog');
  for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).fill(text);
  await dialog.getByRole('button', { name: send, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** A browser in which an invited person has signed up. */
export async function joined(browser: Chromium, link: string): Promise<BrowserContext> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByLabel('Name').fill('Invited');
  await page.getByLabel('Password').first().fill(PASSWORD);
  await page.getByRole('button').last().click();
  await page.waitForURL(/\/(console|account|$)/);
  await page.close();
  return context;
}

/** A call with the browser's own cookies, as a page of the console makes it. */
export async function send(context: BrowserContext, origin: string, method: string, path: string, data?: object) {
  const session = await (await context.request.get(`${origin}/api/console/session`)).json();
  const headers = { origin, 'x-csrf-token': session.csrf_token };
  const answer = await context.request.fetch(origin + path, {
    method,
    headers,
    ...(data === undefined ? {} : { data }),
  });
  const body = (await answer.json().catch(() => ({}))) as { readonly error?: { readonly code: string } };
  return { status: answer.status(), code: body.error?.code };
}
