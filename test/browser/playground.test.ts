import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { sniff } from '../../src/media/index.ts';
import { Chromium, signInByLink } from '../support/chromium.ts';
import { firstStart, usedFolder } from '../support/first-start.ts';
import { until } from '../support/postgres.ts';
import { freePort, Program } from '../support/program.ts';

// The playground and the pages of media by a real browser on the real program: what it makes is seen, heard and read, and
// what is shown as its cost is what the balance lost.

const run = promisify(execFile);

const browser = new Chromium();

/** A gateway, the key of its demo account, and that account's person in a browser. */
interface Bench {
  readonly program: Program;
  readonly key: string;
  readonly page: Page;
  readonly folder: string;
  readonly problems: readonly string[];
}

async function openBench(t: TestContext): Promise<Bench> {
  const { key } = await firstStart(t);
  const program = await Program.start(t, { TOLLGATE_DATA: await usedFolder(t), PORT: String(await freePort()) });
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-playground-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const context = await browser.newContext({ acceptDownloads: true });
  t.after(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await signInByLink(page, program);
  return { program, key, page, folder, problems };
}

test('R-522 R-523: every endpoint is tried in the playground, and costs what it says', async (t) => {
  const bench = await openBench(t);
  const { page, program, folder } = bench;
  const picture = join(folder, 'picture.png');
  const sound = join(folder, 'speech.mp3');

  await t.test('a picture is estimated, made, seen and downloaded', async () => {
    await open(bench, 'model=sandbox/image&endpoint=images');
    await page.getByLabel('Prompt').fill('a toll gate at sunrise by the sea');
    await choose(page, 'Resolution', '2k');
    await page.getByText('Costs up to 20 credits').waitFor();
    assert.match((await page.getByTestId('formula').textContent()) ?? '', /1 image × 10 × 2 \(2k\) = 20 credits/);
    assert.equal(await spend(bench, () => pressRun(page)), 20);
    const shown = page.locator('img.media');
    await shown.waitFor();
    assert.ok(
      (await shown.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))) > 1024,
    );
    await save(page, picture);
    assert.equal(sniff(await readFile(picture))?.mimeType, 'image/png');
    await page.getByRole('link', { name: 'Receipt' }).click();
    await page.getByRole('heading', { name: 'Receipt' }).first().waitFor();
  });

  await t.test('a picture is edited from a file', async () => {
    await open(bench, 'model=sandbox/image&endpoint=image_edits');
    await page.getByLabel('Prompt').fill('the same at night');
    await page.getByText('Needed: Pictures').waitFor();
    await pick(page, page.getByRole('group', { name: 'Pictures' }).getByRole('button', { name: 'Choose' }), picture);
    await page.getByText('picture.png').waitFor();
    assert.equal(await spend(bench, () => pressRun(page)), 10);
    await page.locator('img.media').waitFor();
  });

  await t.test('a clip plays', async () => {
    await open(bench, 'model=sandbox/video');
    await page.getByLabel('Prompt').fill('waves at a gate');
    await page.getByLabel('Seconds').fill('2');
    await choose(page, 'Resolution', '480p');
    await page.getByText('Costs up to 20 credits').waitFor();
    assert.equal(await spend(bench, () => pressRun(page)), 20);
    const clip = page.locator('video.media');
    await clip.waitFor();
    const played = await clip.evaluate(async (video: HTMLVideoElement) => {
      video.muted = true;
      await video.play();
      await new Promise((resolve) => video.addEventListener('timeupdate', resolve, { once: true }));
      return { seconds: video.duration, width: video.videoWidth, state: video.readyState, error: video.error?.message };
    });
    assert.ok(Math.abs(played.seconds - 2) < 0.2 && played.width > 400 && played.state >= 2, JSON.stringify(played));
  });

  await t.test('speech can be heard', async () => {
    await open(bench, 'model=sandbox/speech');
    await page.getByLabel('Text to speak').fill('Every traveller pays the same fair price at this gate.');
    assert.equal(await spend(bench, () => pressRun(page)), 0.81);
    await page.locator('audio').waitFor();
    await save(page, sound);
    const seconds = await page.evaluate(
      async (base64) => {
        const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
        const { duration, numberOfChannels } = await new OfflineAudioContext(1, 1, 44_100).decodeAudioData(
          bytes.buffer,
        );
        return numberOfChannels > 0 ? duration : 0;
      },
      (await readFile(sound)).toString('base64'),
    );
    assert.ok(seconds > 2 && seconds < 6, `${seconds} s`);
  });

  await t.test('what was said is written down, and follows the sound', async () => {
    await open(bench, 'endpoint=transcriptions');
    await pick(page, page.getByRole('button', { name: 'Choose' }), sound);
    await page.getByTestId('estimate').waitFor();
    await spend(bench, () => pressRun(page));
    await page.getByRole('button', { name: /same fair price at this gate/ }).waitFor();
    await page.getByRole('link', { name: 'Open the transcription' }).click();
    await page.getByRole('heading', { name: 'Transcription' }).first().waitFor();
    await page.getByRole('button', { name: /fair price/ }).click();
    await page.locator('[data-now]').first().waitFor();
    await page.reload();
    await page.getByText('The gateway does not keep it.').waitFor();
    await pick(page, page.getByRole('button', { name: 'Choose the sound file' }), sound);
    await page.getByRole('button', { name: /fair price/ }).waitFor();
  });

  await t.test('a streamed chat is read, goes on, and can be stopped', () => chats(bench));

  await t.test('a job’s page shows what was asked, and runs it again', async () => {
    await page.goto(`${program.url}/console/jobs?kind=video`);
    await page.getByRole('article').first().getByRole('link').click();
    await page.getByText('waves at a gate', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Run again' }).click();
    // The form is there before the job that fills it.
    await until(async () => (await page.getByLabel('Prompt').inputValue()) === 'waves at a gate');
    assert.equal(await page.getByLabel('Seconds').inputValue(), '2');
    assert.equal(await spend(bench, () => pressRun(page)), 20);
    await page.goto(`${program.url}/console/jobs?kind=video`);
    await page.getByRole('article').nth(1).waitFor();
  });

  await t.test('a list of jobs shows by itself that one has ended', async () => {
    await open(bench, 'model=sandbox/image');
    await page.getByLabel('Prompt').fill('a slow gate');
    await page.getByRole('button', { name: /Further fields/ }).click();
    await page.getByRole('textbox', { name: 'Further fields' }).fill('{"sandbox": {"delay_ms": 3000}}');
    await pressRun(page);
    await page.getByRole('link', { name: 'Open the job' }).first().waitFor();
    await page.goto(`${program.url}/console/jobs?model=sandbox/image`);
    await page
      .getByRole('article')
      .first()
      .getByText(/queued|running/)
      .waitFor();
    await page.getByRole('article').first().getByText('done').waitFor();
  });

  await t.test('a file is uploaded, can be fetched by its link, and is deleted', async () => {
    await page.goto(`${program.url}/console/files`);
    const rows = page.getByRole('row', { name: /picture\.png/ });
    // The one that was edited.
    await rows.first().waitFor();
    await pick(page, page.getByRole('button', { name: 'Upload' }), picture);
    await rows.nth(1).waitFor();
    const link = (await rows.first().getByRole('link').getAttribute('href')) ?? '';
    assert.deepEqual(await (await page.request.get(link)).body(), await readFile(picture));
    await rows.first().getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await rows.nth(1).waitFor({ state: 'detached' });
  });

  await t.test('what fails says its code, cause and cure, and costs nothing', async () => {
    await open(bench, 'model=sandbox/image');
    await page.getByLabel('Prompt').fill('something unwanted');
    await page.getByRole('button', { name: /Further fields/ }).click();
    await page.getByRole('textbox', { name: 'Further fields' }).fill('{"sandbox": {"fail": "policy"}}');
    assert.equal(await spend(bench, () => pressRun(page)), 0);
    await page.getByText('content_rejected').waitFor();
    await page.getByText('refused by the content rules').waitFor();
    await page.getByText('Change the request and send it again').waitFor();
  });

  await t.test('the shown code runs as it stands', () => codeRuns(bench));
  assert.deepEqual(bench.problems, []);
});

/** A first answer, a second in the same conversation, and one that is stopped before it begins. */
async function chats(bench: Bench): Promise<void> {
  const { page } = bench;
  const message = page.getByRole('textbox', { name: 'Message' });
  await open(bench, 'model=sandbox/chat');
  await message.fill('What is 12 * 7?');
  await page.getByTestId('estimate').waitFor();
  await spend(bench, () => message.press('Enter'));
  await page.getByTestId('said-assistant').getByText('84').waitFor();
  await message.fill('And twice that?');
  await spend(bench, () => message.press('Enter'));
  assert.equal(await page.getByTestId('said-assistant').count(), 2);
  await message.fill('Wait a little');
  await page.getByRole('button', { name: /Further fields/ }).click();
  await page.getByRole('textbox', { name: 'Further fields' }).fill('{"sandbox": {"delay_ms": 30000}}');
  const cost = await spend(bench, async () => {
    await pressRun(page);
    await page.getByRole('button', { name: 'Stop' }).click();
  });
  assert.equal(cost, 0);
  await page.getByText('Stopped.').waitFor();
}

/** The curl of a picture by a shell, and the TypeScript of a chat by Node, each with the demo key. */
async function codeRuns(bench: Bench): Promise<void> {
  const { page, key, folder } = bench;
  const env = { ...process.env, TOLLGATE_KEY: key };
  await open(bench, 'model=sandbox/image&endpoint=images');
  await page.getByLabel('Prompt').fill("a keeper's lantern");
  await page.locator('pre.code', { hasText: 'lantern' }).waitFor();
  await run('bash', ['-ec', await codeOf(page)], { env, cwd: folder });
  assert.equal(sniff(await readFile(join(folder, 'picture.png')))?.mimeType, 'image/png');
  await open(bench, 'model=sandbox/chat');
  await page.getByLabel('Instructions').fill('It\'s "quoted",\non two lines.');
  await page.getByRole('textbox', { name: 'Message' }).fill('What is 6 * 7?');
  await page.getByRole('tab', { name: 'TypeScript' }).click();
  await page.locator('pre.code', { hasText: '6 * 7' }).waitFor();
  const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '-e', await codeOf(page)], { env });
  assert.match(stdout, /42/);
}

test('R-524: a visitor reads the prices, and the calculator equals the gateway’s estimate', async (t) => {
  const { key } = await firstStart(t);
  const program = await Program.start(t, { TOLLGATE_DATA: await usedFolder(t) });
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const estimate = async (body: object) => (await program.call('POST', '/v1/estimate', { key, body })).json.credits;
  const calculated = async () =>
    Number.parseFloat(((await page.getByTestId('calculated').textContent()) ?? '').replace(',', ''));
  await page.goto(program.url);
  await page.getByText('5 s at 1080p = 200 credits').waitFor();
  await page.getByRole('link', { name: 'sandbox/video' }).click();

  await page.getByLabel('Seconds').fill('7.5');
  await choose(page, 'Resolution', '1080p');
  await page.getByLabel('With sound').check();
  const video = { model: 'sandbox/video', endpoint: 'videos', prompt: 'x', seconds: 7.5, resolution: '1080p' };
  assert.equal(await calculated(), await estimate({ ...video, generate_audio: true }));

  await page.goto(`${program.url}/console/models/sandbox/image`);
  await page.getByLabel('Images').fill('3');
  await choose(page, 'Quality', 'high');
  await choose(page, 'Resolution', '4k');
  const image = { model: 'sandbox/image', endpoint: 'images', prompt: 'x', n: 3, quality: 'high', resolution: '4k' };
  assert.equal(await calculated(), await estimate(image));

  await page.goto(`${program.url}/console/models/sandbox/speech`);
  await page.getByLabel('Characters').fill('7');
  assert.equal(
    await calculated(),
    await estimate({ model: 'sandbox/speech', endpoint: 'audio_speech', input: 'seven c' }),
  );
  await page.goto(`${program.url}/console/models/sandbox/transcribe`);
  await page.getByLabel('Seconds').fill('0.123');
  const clip = { model: 'sandbox/transcribe', endpoint: 'transcriptions', duration_seconds: 0.123 };
  assert.equal(await calculated(), await estimate(clip));
});

async function open({ page, program }: Bench, search: string): Promise<void> {
  await page.goto(`${program.url}/console/playground?${search}`);
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
}

async function pressRun(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
}

/** What the page says that it cost, once it says so: the same as the balance has lost, and as the page says is left. */
async function spend({ page, program, key }: Bench, act: () => Promise<void>): Promise<number> {
  const balance = async () => micro((await program.get('/v1/credits', key)).json.available);
  const before = await balance();
  const shownBefore = await page.getByTestId('cost').count();
  if (shownBefore > 0) await page.getByTestId('cost').evaluate((element) => element.setAttribute('data-old', ''));
  await act();
  await page.locator('[data-testid=cost]:not([data-old])', { hasText: /\d/ }).waitFor();
  await page.getByTestId('left').filter({ hasText: /\d/ }).waitFor();
  const cost = numberOf(await page.getByTestId('cost').textContent());
  const left = await balance();
  assert.equal(before - left, micro(cost));
  await page
    .getByTestId('left')
    .getByText(new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 }).format(left / 1e6))
    .waitFor();
  return cost;
}

function micro(credits: number): number {
  return Math.round(credits * 1e6);
}

function numberOf(text: string | null): number {
  return Number((text ?? '').replaceAll(',', ''));
}

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

async function pick(page: Page, button: ReturnType<Page['getByRole']>, file: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await button.click();
  await (await chooser).setFiles(file);
}

async function save(page: Page, file: string): Promise<void> {
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).first().click();
  await (await download).saveAs(file);
}

async function codeOf(page: Page): Promise<string> {
  return (await page.locator('pre.code').textContent()) ?? '';
}
