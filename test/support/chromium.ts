import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { WAIT_MS_MAX } from './patience.ts';
import type { Program } from './program.ts';

export const WIDE = { width: 1280, height: 860 };
export const PHONE = { width: 360, height: 760 };

/** One real browser for all tests of a file. */
export class Chromium {
  #browser: Browser | undefined;

  constructor() {
    before(async () => {
      const executablePath = process.env.TEST_CHROMIUM ?? '';
      this.#browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    });
    after(() => this.#browser?.close());
  }

  /** Cookies and storage of their own. What is waited for in it may take as long as a busy machine does. */
  async newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.#browser?.newContext({ locale: 'en-GB', ...options });
    if (context === undefined) throw new Error('The browser is started before the tests, not while the file is loaded');
    context.setDefaultTimeout(WAIT_MS_MAX);
    return context;
  }
}

/** Signs in as the first operator, by the link that the program printed. */
export async function signInByLink(page: Page, program: Program): Promise<void> {
  await page.goto(/^ *(http:\S+\/link\/\S+)$/m.exec(program.told)?.[1] ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** Ends wide and light, as a page begins. */
export async function assertFitSideways(page: Page, urls: readonly string[]): Promise<void> {
  for (const [viewport, colorScheme] of [
    [PHONE, 'light'],
    [WIDE, 'dark'],
    [WIDE, 'light'],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    for (const url of urls) {
      await page.goto(url);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      const root = page.locator('html');
      const excess = await root.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      assert.equal(excess, 0, `${url} at ${viewport.width}`);
    }
  }
}
