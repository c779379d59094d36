// Mistakes in the life of a transcription or of speech that the checker of the chaos must find.
import { aimedPlan, type Plan, WITHHELD_SPEECH } from '../../packages/verify/src/audio/plan.ts';
import { playRound } from '../../packages/verify/src/audio/round.ts';
import { Upstreams } from '../../packages/verify/src/audio/upstreams.ts';
import { History } from '../../packages/verify/src/run.ts';
import type { Server } from '../../packages/verify/src/server.ts';
import { World } from '../../packages/verify/src/world.ts';
import { type Bug, type Caught, catchBugs, type Hunt, type Stage } from './planted.ts';

const BUGS: readonly Bug<Plan>[] = [
  {
    name: 'submits again what it takes up',
    edits: [
      {
        file: 'transcriptions/transcribe.ts',
        from: 'await follow(work, record, 0);',
        to: 'await submittedAgain(work, record);',
      },
      {
        file: 'transcriptions/transcribe.ts',
        from: 'import { type Candidate, firstThatWorks, redact }',
        to: 'import { candidateOf, firstThatWorks, redact, upstreamOf }',
      },
      {
        file: 'transcriptions/transcribe.ts',
        from: '/** Every failure ends the record,',
        to: `async function submittedAgain(work: WorkDeps, record: LeasedRecord): Promise<Outcome> {
          const { deps, stopping } = work;
          const candidate = candidateOf(deps, record.upstreamId ?? '', record.upstreamModel ?? '');
          if (candidate === undefined) return unavailableOutcome('upstream_failed');
          const { body } = (await deps.objects.read(record.objectKey ?? '')) ?? { body: [] };
          const bytes = Buffer.concat(await Array.fromAsync(body));
          const audio = { bytes: bytes.length, pieces: async function* () { yield bytes; } };
          const asked = { granularities: [], extra: {} };
          const answer = await workOf(candidate).submit(asked as never, audio as never, upstreamOf(candidate, deps.pools, stopping));
          return 'task' in answer ? follow(work, { ...record, task: answer.task }, 0) : outcomeOfTranscript(answer.transcript);
        }
        /** Every failure ends the record,`,
      },
    ],
    plan: aimedPlan('kill', 'transcription.submit.after-commit', 'task at length'),
  },
  {
    name: 'settles in a second transaction after the state',
    edits: [
      {
        file: 'transcriptions/end.ts',
        from: 'if (isCompleted) await settle(tx, reservationId, charged, now, JSON.stringify(units));',
        to: 'if (isCompleted) return charged;',
      },
      {
        file: 'transcriptions/end.ts',
        from: '  return charged;\n}\n\nasync function endIn',
        to: `  if (charged > 0n) await deps.db.transaction((tx) => settle(tx, record.reservationId, charged, deps.clock.now()));
          return charged;
        }

        async function endIn`,
      },
    ],
    plan: aimedPlan('kill', 'transcription.end.completed.after-commit', 'heard'),
  },
  {
    name: 'answers before it saves',
    edits: [
      {
        file: 'transcriptions/transcriptions.ts',
        from: 'const charged = await endRecord(this.#deps, record, outcome);',
        to: `const saved = endRecord(this.#deps, record, outcome);
          saved.catch(() => undefined);
          const charged = outcome.status === "completed" ? BigInt(record.seconds * 10_000_000) : 0n;
          await new Promise((resolve) => setTimeout(resolve, 0));`,
      },
    ],
    plan: aimedPlan('kill', 'transcription.end.completed.before-commit', 'heard'),
  },
  {
    name: 'never takes up what was being worked on',
    edits: [
      {
        file: 'transcriptions/store.ts',
        from: "where status in ('pending', 'processing') and (id = any ($4)",
        to: "where status = 'pending' and (id = any ($4)",
      },
    ],
    plan: aimedPlan('kill', 'transcription.submit.after-call', 'heard'),
  },
  {
    name: 'gives the credits of a transcript back that it took up',
    edits: [
      {
        file: 'transcriptions/end.ts',
        from: 'if (isCompleted) await settle(',
        to: 'if (isCompleted && fence === 0) await settle(',
      },
    ],
    plan: aimedPlan('kill', 'transcription.submit.after-commit', 'task'),
  },
  {
    name: 'forgets to let the input go',
    edits: [
      {
        file: 'transcriptions/end.ts',
        from: 'await deleteObjectsAt(tx, [record.objectKey], now);',
        to: 'if (!isCompleted) await deleteObjectsAt(tx, [record.objectKey], now);',
      },
    ],
    plan: aimedPlan('kill', 'transcription.answer.before-send', 'heard at length'),
  },
  {
    name: 'ends what somebody else has taken and ended',
    edits: [
      {
        file: 'transcriptions/store.ts',
        from: 'where id = $1 and fence = $2 and status = any ($9) and settlement_state = any ($10)`',
        to: 'where id = $1 and $2 = $2 and cardinality($9::text[]) + cardinality($10::text[]) > 0`',
      },
    ],
    plan: aimedPlan('halt', 'transcription.submit.after-call', 'heard'),
  },
  {
    name: 'charges for speech when it begins',
    edits: [
      {
        file: 'calls/speech.ts',
        from: '  let notedAtMs = performance.now();',
        to: `  let notedAtMs = performance.now();
          await bill.settle(clipUnits(charactersPerClip, clipLength, [{ milliseconds: clipLength.heldMs, isEstimated: true }]));`,
      },
    ],
    plan: aimedPlan('kill', WITHHELD_SPEECH, 'speech held'),
  },
];

const STAGE: Stage<Upstreams, Plan> = {
  open: async (server, name, edits) => World.open(server, name, await Upstreams.start(), edits),
  play: async (world, seed, plan) => (await playRound(world, new History(), seed, { plan })).findings,
};

export function catchPlanted(server: Server, asked: Hunt): Promise<readonly Caught[]> {
  return catchBugs(server, BUGS, STAGE, asked);
}
