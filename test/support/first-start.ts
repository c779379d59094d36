import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import type { Answer } from './gateway.ts';
import { until, workFolder } from './postgres.ts';
import { adminToken, copyFolder, Program } from './program.ts';

interface FirstStart {
  readonly told: string;
  readonly key: string;
  /** Of the printed commands, in their order. */
  readonly answers: readonly Answer[];
  readonly accounts: Answer;
  readonly entries: Answer;
}

const template = mkdtempSync(join(tmpdir(), 'tollgate-first-'));
chmodSync(template, 0o755);
let made: Promise<FirstStart> | undefined;

after(() => rmSync(template, { recursive: true, force: true }));

/** One first start for all tests, made by whichever needs it first, and stopped in order. */
export function firstStart(t: TestContext): Promise<FirstStart> {
  made ??= makeFirstStart(t);
  return made;
}

async function makeFirstStart(t: TestContext): Promise<FirstStart> {
  const folder = join(template, 'data');
  const program = await Program.start(t, { TOLLGATE_DATA: folder });
  const key = /^ {2}export TOLLGATE_KEY=(sk-tg1-\S+)$/m.exec(program.told)?.[1] ?? '';
  const accounts = await program.get('/api/admin/accounts', adminToken(folder));
  const entries = await program.get(`/api/admin/accounts/${accounts.json.data[0].id}/ledger`, adminToken(folder));
  const commands = [
    ...program.told.matchAll(
      /^ {2}curl (\S+) -H "Authorization: Bearer \$TOLLGATE_KEY"(?: -H "Content-Type: application\/json")?(?: -o \S+)?(?: -d '(.*)')?$/gm,
    ),
  ];
  const answers: Answer[] = [];
  for (const [, url = '', json] of commands) {
    const path = url.slice(program.url.length);
    const body = json === undefined ? undefined : JSON.parse(json);
    answers.push(await program.call(body === undefined ? 'GET' : 'POST', path, { key, body }));
  }
  // So that what it leaves on disk is the same each time. On a busy machine so many looks reach the key's rate.
  await until(async () => {
    const { json } = await program.get('/v1/jobs', key);
    return json.data?.every(({ status }: { readonly status: string }) => status === 'succeeded');
  });
  assert.equal(await program.kill('SIGTERM'), 0);
  return { told: program.told, key, answers, accounts, entries };
}

/** A copy of a data folder that has been started and stopped once. */
export async function usedFolder(t: TestContext): Promise<string> {
  const folder = join(workFolder(t), 'data');
  await copyUsed(t, folder);
  return folder;
}

export async function copyUsed(t: TestContext, folder: string): Promise<void> {
  await firstStart(t);
  copyFolder(join(template, 'data'), folder);
}
