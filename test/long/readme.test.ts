import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { sniff } from '../../src/media/index.ts';
import { BARE_ENVIRONMENT } from '../support/environment.ts';
import { fencedBlocks, ROOT, readDocument, runShell } from '../support/manual.ts';
import { freePort } from '../support/program.ts';

// README.md and docs/tour.md as a newcomer follows them: `npm start`, then every command as it stands there. The commands
// name the default port; curl is led to the one that this gateway really has by its own configuration file.

const DOCUMENTED_ORIGIN = 'http://127.0.0.1:8787';
const NOT_IN_A_CLONE = new Set(['.git', 'data', 'tollgate.yaml']);

let folder: string;
let environment: NodeJS.ProcessEnv;
let origin: string;
let gateway: ChildProcess;
let printed = '';

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-readme-'));
  await layOutClone();
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  environment = {
    ...BARE_ENVIRONMENT,
    HOME: join(folder, 'home'),
    PORT: String(port),
    PUBLIC_URL: DOCUMENTED_ORIGIN,
  };
  await mkdir(join(folder, 'home'));
  await writeFile(
    join(folder, 'home/.curlrc'),
    `connect-to = "127.0.0.1:8787:127.0.0.1:${port}"\nsilent\nshow-error\n`,
  );
  // In a group of its own, which its end is sent to as a terminal sends Ctrl-C.
  gateway = spawn('npm', ['start'], {
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await started();
});

after(async () => {
  if (gateway.pid !== undefined && gateway.exitCode === null) {
    const ended = new Promise((resolve) => gateway.once('close', resolve));
    process.kill(-gateway.pid, 'SIGINT');
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
});

test('README.md begins with npm start, which prints the line that exports the demo key', async () => {
  assert.equal(blocks('README.md', 'sh')[0], 'npm start\n');
  assert.match(printed, /^ *export TOLLGATE_KEY=sk-tg1-\w+$/m);
});

test('the commands of README.md run as they stand there', async () => {
  const [, ...commands] = blocks('README.md', 'sh');
  const { output, code } = await shell(commands.join('\n'));
  assert.equal(code, 0, output);
  assert.match(output, /"content":"12 \* 7 = 84[^"]*"/);
});

test('the session in README.md prints what it promises', async () => {
  const [session = ''] = blocks('README.md', 'console');
  const steps = sessionSteps(session);
  const { output, code } = await shell(steps.map(({ command }) => `${command}\necho --- end of step`).join('\n'));
  assert.equal(code, 0, output);
  const outputs = output.split('--- end of step\n');
  for (const [index, { command, promised }] of steps.entries()) {
    assert.match(outputs[index] ?? '', promised, command);
  }
});

test('the program in README.md runs as it stands there, led to the port of this gateway', async () => {
  const [program = ''] = blocks('README.md', 'ts');
  await writeFile(join(folder, 'program.mjs'), program.replace(DOCUMENTED_ORIGIN, origin));
  const { output, code } = await shell('node program.mjs');
  assert.equal(code, 0, output);
  assert.match(output, /84/);
  assert.equal((await readFile(join(folder, 'gate.png'))).toString('latin1', 1, 4), 'PNG');
});

test('the commands of docs/tour.md run as they stand there, one after the other', async () => {
  const commands = blocks('docs/tour.md', 'sh');
  const { output, code } = await shell(commands.join('\n'));
  assert.equal(code, 0, output);
  assert.doesNotMatch(output, /"error":/);
  assert.match(output, /"balanced":true/);
  for (const [file, type] of [
    ['picture.png', 'image/png'],
    ['edited.png', 'image/png'],
    ['clip.mp4', 'video/mp4'],
    ['music.mp3', 'audio/mpeg'],
    ['speech.mp3', 'audio/mpeg'],
  ] as const) {
    assert.equal(sniff(await readFile(join(folder, file)))?.mimeType, type, file);
  }
});

test('the command and the program of docs/mcp.md run as they stand there', async () => {
  const { output, code } = await shell(blocks('docs/mcp.md', 'sh').join('\n'));
  assert.equal(code, 0, output);
  assert.match(output, /credits are available/);
  const [program = ''] = blocks('docs/mcp.md', 'ts');
  await writeFile(join(folder, 'mcp.mjs'), program.replace(DOCUMENTED_ORIGIN, origin));
  const made = await shell('node mcp.mjs');
  assert.equal(made.code, 0, made.output);
  assert.match(made.output, /^job_\w+ succeeded with sandbox\/image for 10 credits\./);
});

test('an app is registered as docs/oauth.md says, and the example asks for consent with it', async () => {
  const [register = ''] = blocks('docs/oauth.md', 'sh');
  const [run = ''] = blocks('docs/oauth.md', 'console');
  const [{ command } = { command: '' }] = sessionSteps(run);
  const registered = await shell(register);
  assert.equal(registered.code, 0, registered.output);
  assert.match(registered.output, /"object":"oauth_client"/);
  // From here on it waits for a browser; test/browser follows it to its end.
  const example = spawn('bash', ['-c', `exec ${command.replace(DOCUMENTED_ORIGIN, origin)}`], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let output = '';
    for await (const chunk of example.stdout) {
      output += String(chunk);
      if (output.includes('/oauth/authorize?response_type=code&client_id=client_')) return;
    }
    assert.fail(output);
  } finally {
    example.kill();
  }
});

test('every npm script that the documents name is there, and each of their links leads somewhere', async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  for (const document of ['README.md', 'docs/contributing.md', 'docs/operating.md', 'docs/people.md']) {
    const text = await readFile(join(ROOT, document), 'utf8');
    for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)/g)) assert.ok(script in scripts, script);
    for (const [, path = ''] of text.matchAll(/\]\(([\w./-]+)\)/g)) await readdirOrFile(join(dirname(document), path));
  }
});

/** The folder as a fresh clone has it, with what is installed: links, so that nothing is written into the real one. */
async function layOutClone(): Promise<void> {
  const names = (await readdir(ROOT)).filter((name) => !NOT_IN_A_CLONE.has(name));
  await Promise.all(names.map((name) => symlink(join(ROOT, name), join(folder, name))));
}

async function started(): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('Try it')) resolve();
    };
    gateway.stdout?.on('data', take);
    gateway.stderr?.on('data', take);
    gateway.once('close', () => reject(new Error(`npm start ended:\n${printed}`)));
  });
}

function blocks(document: string, language: string): string[] {
  return fencedBlocks(readDocument(document), language).map(({ commands }) => commands);
}

/** Runs commands after the line which the start told to paste. */
function shell(commands: string): Promise<{ output: string; code: number | null }> {
  const key = /^ *(export TOLLGATE_KEY=.*)$/m.exec(printed)?.[1] ?? '';
  return runShell(`${key}\n${commands}`, { cwd: folder, env: environment });
}

/** Commands follow a `$`; what stands below each is promised, with `…` for whatever differs from run to run. */
function sessionSteps(session: string): { command: string; promised: RegExp }[] {
  return session
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const lines = step.trimEnd().split('\n');
      const last = lines.findIndex((line) => !line.endsWith('\\'));
      const promised = lines.slice(last + 1).join('\n');
      const pattern = promised.split('…').map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      return { command: lines.slice(0, last + 1).join('\n'), promised: new RegExp(`^${pattern.join('.*')}\\s*$`, 's') };
    });
}

async function readdirOrFile(path: string): Promise<void> {
  await readFile(join(ROOT, path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EISDIR') throw error;
  });
}
