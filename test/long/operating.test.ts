import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PREAMBLE, ROOT, readDocument, runShell, sectionsOf } from '../support/manual.ts';
import { ManualDeployment } from '../support/manual-deployment.ts';

// docs/operating.md as an operator follows it. Each section stands on its own: its commands run in a shell of their own,
// after those of "How commands are written here".

const MANUAL = 'docs/operating.md';
const sections = sectionsOf(MANUAL);

test('the commands of docs/operating.md run as they stand there, section by section', async (t) => {
  const deployment = await ManualDeployment.start(t);
  for (const { heading, blocks } of sections.filter((section) => section.heading !== PREAMBLE)) {
    const own = blocks.filter(({ runBy, notRun }) => runBy === undefined && notRun === undefined);
    if (own.length === 0) continue;
    await t.test(heading, async () => {
      const output = await deployment.run(own.map(({ commands }) => commands).join('\n'));
      assert.doesNotMatch(output, /"error":/);
    });
  }
});

test('commands that this test does not run name the test that does, and that test names their section', () => {
  for (const { heading, blocks } of sections) {
    for (const { runBy } of blocks.filter((block) => block.runBy !== undefined)) {
      const source = readFileSync(join(ROOT, runBy ?? ''), 'utf8');
      assert.ok(source.includes(heading), `${runBy} does not name "${heading}"`);
    }
  }
});

test('only what needs a daemon or a cluster is run by no test', () => {
  const notRun = sections.flatMap(({ blocks }) => blocks).filter((block) => block.notRun !== undefined);
  for (const { commands } of notRun) {
    for (const line of commands.replaceAll('\\\n', '').trim().split('\n')) {
      assert.match(line, /^(docker|kubectl|helm|systemctl) /);
    }
  }
});

test('the contents of docs/operating.md lead to every section, and each of its links leads somewhere', () => {
  const manual = readDocument(MANUAL);
  const anchors = sections.map(({ heading }) => anchorOf(heading));
  const inner = [...manual.matchAll(/^### (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
  const contents = sections.find(({ heading }) => heading === 'Contents')?.text ?? '';
  const listed = [...contents.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
  const untitled = ['contents', anchorOf(PREAMBLE)];
  assert.deepEqual(listed.toSorted(), anchors.filter((anchor) => !untitled.includes(anchor)).toSorted());
  for (const [, anchor = ''] of manual.matchAll(/\]\(#([^)]+)\)/g)) {
    assert.ok([...anchors, ...inner].includes(anchor), anchor);
  }
  for (const [, path = ''] of manual.matchAll(/\]\(([\w./-]+\.\w+)\)/g)) readDocument(join('docs', path));
});

test('every command of tollgate that docs/operating.md names exists', async () => {
  const { output } = await runShell('bin/tollgate.mjs --help', { cwd: ROOT, env: process.env });
  const known = [...output.matchAll(/^ {2}tollgate ([a-z]+(?: [a-z]+)?)/gm)].map(([, name]) => name);
  for (const [, name = ''] of readDocument(MANUAL).matchAll(/`tollgate ([a-z]+(?: [a-z]+)?)/g)) {
    assert.ok(known.includes(name) || known.includes(name.split(' ')[0]), `tollgate ${name}`);
  }
});

/** As GitHub makes them. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
