import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type FaultKind, termsOf } from '../../packages/verify/src/fault-kinds.ts';
import { makePlan } from '../../packages/verify/src/jobs/plan.ts';
import { Random } from '../../packages/verify/src/random.ts';
import { runVerify } from '../../packages/verify/src/verify.ts';
import type { KillPoint } from '../../src/kill-point.ts';
import { BUGS } from '../chaos/jobs-planted.ts';
import { readDocument } from '../support/manual.ts';
import { workFolder } from '../support/postgres.ts';
import { runCommand } from '../support/program.ts';

// `tollgate verify` in small: the command of "Proving it" in docs/operating.md, and bugs that it must find.

const MANUAL_COMMAND = /^tollgate (verify --kills \d+ .*)$/m;

test('the campaigns of "Proving it" run as they stand in the manual, and find nothing', async (t) => {
  const [, line = ''] = MANUAL_COMMAND.exec(readDocument('docs/operating.md')) ?? [];
  const { code, out, err } = await runCommand(t, [...line.split(' '), '--json'], {});
  assert.equal(code, 0, out + err);
  const { campaigns } = JSON.parse(out);
  assert.deepEqual(
    campaigns.map(({ name }: { readonly name: string }) => name),
    ['jobs', 'audio'],
  );
  for (const { kills, orders, entries, violations } of campaigns) {
    assert.ok(kills > 0 && orders > 0 && entries > 0, out);
    assert.deepEqual(violations, []);
  }
});

const KINDS: readonly FaultKind[] = ['kill', 'upstream'];

/** Each shows where a gateway is killed at this point. */
const SHOWN_AT: Readonly<Record<string, KillPoint>> = {
  'settles in a second transaction after the state': 'job.end.succeeded.after-commit',
  'submits again what may have been accepted': 'job.dispatch.after-call',
};

for (const [name, point] of Object.entries(SHOWN_AT)) {
  const edits = BUGS.find((bug) => bug.name === name)?.edits;
  assert.ok(edits, name);
  test(`the campaigns find a gateway that ${name}, and leave evidence`, async (t) => {
    const evidenceFolder = join(workFolder(t), 'evidence');
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const { campaigns, evidence } = await runVerify({
      environment: { PATH, NODE_COMPILE_CACHE },
      kills: 16,
      seed: seedFor(point),
      minutes: undefined,
      only: KINDS,
      edits,
      evidenceFolder,
      progress: () => undefined,
    });
    const violations = campaigns.flatMap((campaign) => campaign.violations);
    assert.notDeepEqual(violations, []);
    assert.equal(evidence, evidenceFolder);
    assert.ok(existsSync(join(evidenceFolder, 'evidence.json')));
    assert.deepEqual(JSON.parse(readFileSync(join(evidenceFolder, 'report.json'), 'utf8'))[0].violations, violations);
  });
}

/** The first seed whose round kills a gateway when it first comes to this point. */
function seedFor(point: KillPoint): number {
  const terms = termsOf(KINDS, true);
  for (let seed = 1; ; seed++) {
    const { waves } = makePlan(new Random(seed), terms);
    if (waves.some(({ blow }) => blow.kind === 'kill' && blow.point === point && blow.passes === 0)) return seed;
  }
}
