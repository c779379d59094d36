import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Fault } from '../src/errors.ts';
import type { SubmissionFault } from './support/faulty-proxy.ts';
import type { Money } from './support/paid-calls.ts';
import { upstreamHealth } from './support/upstream-health.ts';
import { WholeProgram } from './support/whole-program.ts';
import {
  contractedVendors,
  isAdopted,
  isJob,
  isTask,
  WHOLE_PRICE,
  type WholeWork,
  WORK_KINDS,
  wholeWorks,
} from './support/whole-works.ts';

// Every vendor, every kind of work and every way that it can end, in the whole program: what the caller is told, which
// upstreams are asked, and what it costs.

/** More would be slower: it is one process with its database that they all keep busy. */
const AT_ONCE = 12;
const UNTOUCHED: Money = { available: 1000, reserved: 0, spent: 0 };
const PAID: Money = { available: 1000 - WHOLE_PRICE, reserved: 0, spent: WHOLE_PRICE };

/** What a caller sees, and how often each upstream was asked to do the work. */
interface End {
  readonly told: 'made' | 'upstream_rejected' | 'content_rejected' | 'upstream_failed' | 'upstream_timeout';
  readonly submissions: readonly [number, number];
}

const MADE: End = { told: 'made', submissions: [1, 0] };
const MADE_BY_SECOND: End = { told: 'made', submissions: [1, 1] };

interface Outcome {
  readonly name: string;
  /** What the first submission meets; undefined where there is no such thing at this vendor. */
  readonly fault: (work: WholeWork) => SubmissionFault | 'none' | undefined;
  readonly end: (work: WholeWork) => End;
}

const STATUSES = { client: 400, policy: 400, rate: 429, account: 402, server: 500 } as const;
/** Where the vendor has no code for it. */
const BARE = { ...STATUSES, account: 401 };

/** A job that may have been accepted is not asked for twice: it is found again, or it has failed and is free. */
const uncertain = (code: End['told']) => (work: WholeWork) =>
  isJob(work) ? { told: code, submissions: [1, 0] as const } : MADE_BY_SECOND;

const OUTCOMES: readonly Outcome[] = [
  { name: 'success', fault: () => 'none', end: () => MADE },
  { name: 'client', fault: refusalFor('client'), end: () => ({ told: 'upstream_rejected', submissions: [1, 0] }) },
  { name: 'policy', fault: policyFor, end: () => ({ told: 'content_rejected', submissions: [1, 0] }) },
  { name: 'rate', fault: refusalFor('rate'), end: () => MADE_BY_SECOND },
  { name: 'account', fault: refusalFor('account'), end: () => MADE_BY_SECOND },
  { name: 'server', fault: refusalFor('server'), end: () => MADE_BY_SECOND },
  { name: 'timeout', fault: () => ({ kind: 'silence' }), end: uncertain('upstream_timeout') },
  {
    name: 'garbled',
    fault: ({ isStream }) => ({
      kind: 'garbled',
      ...(isStream
        ? { type: 'text/event-stream', body: 'data: {"id": \n\n' }
        : { type: 'application/json', body: '{"id": ' }),
    }),
    end: (work) => (isAdopted(work) ? MADE : uncertain('upstream_failed')(work)),
  },
  {
    name: 'lost answer',
    fault: () => ({ kind: 'lost' }),
    end: (work) => (isAdopted(work) ? MADE : uncertain('upstream_failed')(work)),
  },
];

function refusalFor(fault: keyof typeof STATUSES & Fault): Outcome['fault'] {
  return (work) => {
    const { contract } = work;
    const [code] = [...contract.wire.faults.codes].find(([, meaning]) => meaning === fault) ?? [];
    return code === undefined ? refused(work, BARE[fault], {}) : refused(work, STATUSES[fault], contract.refusal(code));
  };
}

function policyFor(work: WholeWork): ReturnType<Outcome['fault']> {
  const { contract, offered } = work;
  if (contract.policy === 'none') return undefined;
  const [code] = [...contract.wire.faults.codes].find(([, meaning]) => meaning === 'policy') ?? [];
  if (contract.policy === undefined && code !== undefined) return refused(work, 400, contract.refusal(code));
  const refusal = contract.policy?.(offered.kind);
  return refusal && refused(work, ...refusal);
}

function refused({ isStream }: WholeWork, status: number, body: object): SubmissionFault {
  const json = JSON.stringify(body);
  return status === 200 && isStream
    ? { kind: 'refused', status, type: 'text/event-stream', body: `data: ${json}\n\n` }
    : { kind: 'refused', status, type: 'application/json', body: json };
}

const program = new WholeProgram();
before(() => program.start());
after(() => program.stop());

for (const [vendor, contract] of contractedVendors) {
  test(`${vendor.name}: every kind of work is listed, and how its rules are told`, () => {
    const offered = WORK_KINDS.filter((kind) => vendor[kind] !== undefined);
    assert.deepEqual([...new Set(contract.works.map(({ kind }) => kind))].sort(), [...offered].sort());
    const hasCode = [...contract.wire.faults.codes.values()].includes('policy');
    assert.ok(
      hasCode || contract.policy !== undefined,
      'it has no code for its policy, and `policy` does not say more',
    );
  });
}

for (const { name, fault, end } of OUTCOMES) {
  const works = wholeWorks.filter((work) => fault(work) !== undefined);
  describe(name, { concurrency: name === 'timeout' ? 32 : AT_ONCE }, () => {
    before(() => program.begin(name.replace(' ', '-'), works, name === 'timeout' ? { timeout_seconds: 1 } : {}));
    after(async () => {
      await program.gateway.assertBooksBalance();
      await program.end();
    });
    for (const work of works) {
      test(`${work.name}: ${name}`, async () => {
        const trial = program.trial(work);
        const met = fault(work);
        trial.first.fault = met === 'none' ? undefined : met;
        const { told, submissions } = end(work);
        // Nothing but the poll of a transcript waits for the clock while its caller does.
        const answer = await (isTask(work) ? program.answered(trial.ask()) : trial.ask());
        if (isJob(work)) {
          assert.equal(answer.status, 202, answer.text);
          const job = await trial.ended(answer.json.id);
          assert.equal(job.error_code ?? 'made', told, JSON.stringify(job));
        } else {
          const code = answer.json?.error?.code ?? 'made';
          assert.deepEqual([answer.status, code], told === 'made' ? [200, told] : [400, told], answer.text);
        }
        assert.deepEqual([trial.submissions, await trial.money()], [submissions, told === 'made' ? PAID : UNTOUCHED]);
        if (name === 'account') {
          const { whole } = await upstreamHealth(program.gateway, trial.firstId);
          assert.equal(whole.state, 'open', JSON.stringify(whole));
        }
      });
    }
  });
}

describe('restart', { concurrency: AT_ONCE }, () => {
  before(async () => {
    await program.begin('restart', wholeWorks);
    await program.interrupt(wholeWorks);
  });
  after(async () => {
    await program.gateway.assertBooksBalance();
    await program.end();
  });
  for (const work of wholeWorks) {
    test(`${work.name}: restart while running`, async () => {
      const trial = program.trial(work);
      // What has no task may have been made or not: it is not asked for twice, and is free.
      const [told, cost] = isTask(work) ? ['made', PAID] : ['not made', UNTOUCHED];
      assert.deepEqual([await trial.resumed(), trial.submissions, await trial.money()], [told, [1, 0], cost]);
    });
  }
});
