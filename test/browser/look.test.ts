import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { ACCOUNT_PLACES, OPERATOR_PLACES } from '../../console/src/shell/navigation.ts';
import { Chromium, PHONE, signInByLink, WIDE } from '../support/chromium.ts';
import { firstStart, usedFolder } from '../support/first-start.ts';
import { until } from '../support/postgres.ts';
import { freePort, Program } from '../support/program.ts';

// Every page of the console as it looks: in light, dark, at the width of a phone and in Chinese. Pictures for review are
// written to console/screenshots; what a machine can judge of them is asserted: accessibility, overflow, text that is cut
// off, layout shift, and that a page keeps its own content policy. Times are printed and not judged.

const PICTURES = 'console/screenshots';
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** The Web Vitals call up to 0.1 good. A page that is laid out before its data comes has almost none. */
const LAYOUT_SHIFT_MAX = 0.05;

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: WIDE, locale: 'en-GB' },
  dark: { colorScheme: 'dark', viewport: WIDE, locale: 'en-GB' },
  phone: { colorScheme: 'light', viewport: PHONE, locale: 'en-GB' },
  chinese: { colorScheme: 'light', viewport: WIDE, locale: 'zh-CN' },
};

/** The other processor idles where this file, the slowest, runs alone. */
const AT_ONCE = { concurrency: 2 };

const VISITOR_PATHS = ['/', '/console/models', '/sign-in'];

const browser = new Chromium();
before(() => mkdir(PICTURES, { recursive: true }));

test(
  'R-523 R-524: every page, in every look, can be read by all and is laid out within its bounds',
  AT_ONCE,
  async (t) => {
    const { key } = await firstStart(t);
    const program = await Program.start(t, { TOLLGATE_DATA: await usedFolder(t), PORT: String(await freePort()) });
    const found = await makeWork(program, key);
    const person = await signedInState(program);
    const places = [...ACCOUNT_PLACES, ...OPERATOR_PLACES].map(({ to }) => to);
    const details = [`/console/jobs/${found.jobId}`, '/console/profile', '/console/models/sandbox%2Fimage'];
    const paths = [...places, ...details];
    const looks = Object.entries(LOOKS).flatMap(([look, options]) => [
      t.test(`signed in, ${look}`, (each) =>
        lookAt(each, program.url, look, { ...options, storageState: person }, paths),
      ),
      t.test(`a visitor, ${look}`, (each) => lookAt(each, program.url, `visitor.${look}`, options, VISITOR_PATHS)),
    ]);
    await Promise.all(looks);
  },
);

/** A chat, a picture that is done, a refusal: so that lists are not empty. */
async function makeWork(program: Program, key: string): Promise<{ jobId: string }> {
  const messages = [{ role: 'user', content: 'What is 12 * 7?' }];
  await program.call('POST', '/v1/chat/completions', { key, body: { model: 'sandbox/chat', messages } });
  await program.call('POST', '/v1/chat/completions', { key, body: { model: 'no/such-model', messages } });
  const job = await program.call('POST', '/v1/images/generations', {
    key,
    body: { model: 'sandbox/image', prompt: 'a toll gate at sunrise', size: '256x256', quality: 'low' },
  });
  await until(async () => (await program.get(`/v1/jobs/${job.json.id}`, key)).json.status === 'succeeded');
  return { jobId: job.json.id };
}

async function signedInState(program: Program): Promise<NonNullable<BrowserContextOptions['storageState']>> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signInByLink(page, program);
  const state = await context.storageState();
  await context.close();
  return state;
}

interface Diagnostic {
  diagnostic(text: string): void;
}

async function lookAt(
  t: Diagnostic,
  origin: string,
  look: string,
  options: BrowserContextOptions,
  paths: readonly string[],
): Promise<void> {
  const context = await browser.newContext(options);
  const axe = await readFile(AXE, 'utf8');
  const faults: string[] = [];
  try {
    for (const path of paths) {
      const page = await context.newPage();
      page.on('pageerror', (error) => faults.push(`${path}: ${error}`));
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(`${path}: ${message.text()}`);
      });
      await page.goto(origin + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      faults.push(...(await faultsOf(page, axe)).map((fault) => `${path}: ${fault}`));
      // At the end: for a picture of the whole page the browser makes the window larger, which moves what is in it.
      await page.screenshot({ path: join(PICTURES, `${nameOf(path)}.${look}.png`), fullPage: true });
      t.diagnostic(`${path}: ${await timesOf(page)}`);
      await page.close();
    }
  } finally {
    await context.close();
  }
  assert.deepEqual(faults, []);
}

function nameOf(path: string): string {
  return path.replace(/[^\w]+/g, '_').replace(/^_|_$/g, '') || 'landing';
}

async function faultsOf(page: Page, axe: string): Promise<readonly string[]> {
  // By the debugger: the page's policy lets no other script in.
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe has put itself there.
    const { violations: found } = await (globalThis as any).axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    });
    return found.map(
      (one: { id: string; nodes: { target: string[]; failureSummary?: string }[] }) =>
        `${one.id}: ${one.nodes.map(({ target }) => target.join(' ')).join(', ')} ${one.nodes[0]?.failureSummary ?? ''}`,
    );
  });
  return [...violations, ...(await page.evaluate(layoutFaults, LAYOUT_SHIFT_MAX))];
}

/** Runs in the page: what sticks out of it, what is cut off, and what has moved while it was loading. */
async function layoutFaults(shiftMax: number): Promise<string[]> {
  const faults: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) faults.push(`sticks out sideways by ${scrollWidth - clientWidth} px`);
  for (const element of document.querySelectorAll<HTMLElement>('body *')) {
    const style = getComputedStyle(element);
    const isHiding = style.overflowX === 'hidden' || style.textOverflow === 'ellipsis';
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim());
    const isSeen = element.clientWidth > 1 && style.visibility !== 'hidden';
    if (isHiding && hasText && isSeen && element.scrollWidth > element.clientWidth + 1) {
      faults.push(`cut off: "${element.textContent?.trim().slice(0, 60)}"`);
    }
  }
  const shift = await new Promise<number>((resolve) => {
    let sum = 0;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
    });
    observer.observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve(sum), 50);
  });
  if (shift > shiftMax) faults.push(`moves while it loads: layout shift ${shift.toFixed(3)}`);
  return faults;
}

async function timesOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
    const bytes = performance
      .getEntriesByType('resource')
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize, 0);
    return `first contentful paint ${paint.toFixed(0)} ms, interactive ${navigation?.domInteractive.toFixed(0)} ms, ${bytes} bytes fetched`;
  });
}
