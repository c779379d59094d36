import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { sniff } from '../../src/media/index.ts';
import { ROOT } from '../support/manual.ts';
import { blocksOf, DOCUMENTED_ORIGIN, Newcomer } from '../support/newcomer.ts';

// README.md and docs/tour.md as a newcomer follows them: `npm start`, then every command as it stands there.

let newcomer: Newcomer;

before(async () => {
  newcomer = await Newcomer.start();
});

after(() => newcomer.stop());

test('README.md begins with npm start, which prints the line that exports the demo key', async () => {
  assert.equal(blocksOf('README.md', 'sh')[0], 'npm start\n');
  assert.match(newcomer.printed, /^ *export TOLLGATE_KEY=sk-tg1-\w+$/m);
});

test('the commands of README.md run as they stand there', async () => {
  const [, ...commands] = blocksOf('README.md', 'sh');
  const { output, code } = await newcomer.shell(commands.join('\n'));
  assert.equal(code, 0, output);
  assert.match(output, /"content":"12 \* 7 = 84[^"]*"/);
});

test('the session in README.md prints what it promises', async () => {
  const [session = ''] = blocksOf('README.md', 'console');
  const steps = sessionSteps(session);
  const { output, code } = await newcomer.shell(
    steps.map(({ command }) => `${command}\necho --- end of step`).join('\n'),
  );
  assert.equal(code, 0, output);
  const outputs = output.split('--- end of step\n');
  for (const [index, { command, promised }] of steps.entries()) {
    assert.match(outputs[index] ?? '', promised, command);
  }
});

test('the program in README.md runs as it stands there, led to the port of this gateway', async () => {
  const [program = ''] = blocksOf('README.md', 'ts');
  const { output, code } = await newcomer.program(program);
  assert.equal(code, 0, output);
  assert.match(output, /84/);
  assert.equal((await readFile(join(newcomer.folder, 'gate.png'))).toString('latin1', 1, 4), 'PNG');
});

test('the commands of docs/tour.md run as they stand there, one after the other', async () => {
  const commands = blocksOf('docs/tour.md', 'sh');
  const { output, code } = await newcomer.shell(commands.join('\n'));
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
    assert.equal(sniff(await readFile(join(newcomer.folder, file)))?.mimeType, type, file);
  }
});

test('the command and the program of docs/mcp.md run as they stand there', async () => {
  const { output, code } = await newcomer.shell(blocksOf('docs/mcp.md', 'sh').join('\n'));
  assert.equal(code, 0, output);
  assert.match(output, /credits are available/);
  const [program = ''] = blocksOf('docs/mcp.md', 'ts');
  const made = await newcomer.program(program);
  assert.equal(made.code, 0, made.output);
  assert.match(made.output, /^job_\w+ succeeded with sandbox\/image for 10 credits\./);
});

test('an app is registered as docs/oauth.md says, and the example asks for consent with it', async () => {
  const [register = ''] = blocksOf('docs/oauth.md', 'sh');
  const [run = ''] = blocksOf('docs/oauth.md', 'console');
  const [{ command } = { command: '' }] = sessionSteps(run);
  const registered = await newcomer.shell(register);
  assert.equal(registered.code, 0, registered.output);
  assert.match(registered.output, /"object":"oauth_client"/);
  // From here on it waits for a browser; test/browser follows it to its end.
  const example = spawn('bash', ['-c', `exec ${command.replace(DOCUMENTED_ORIGIN, newcomer.origin)}`], {
    cwd: newcomer.folder,
    env: newcomer.environment,
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
