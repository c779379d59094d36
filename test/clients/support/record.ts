// What was called by which program and how it ended, for the table in docs/clients.md.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** The setting with the file that outcomes are appended to; without it none is written. */
export const OUTCOMES_VARIABLE = 'TEST_CLIENTS_OUTCOMES';
export const WORKS = 'works';
const FAILS = 'fails';

export interface Outcome {
  readonly program: string;
  /** Written as in the table, in Markdown. */
  readonly call: string;
  readonly result: string;
}

/** Runs the work that proves the call, and records whether it did. */
export async function called(program: string, call: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    record({ program, call, result: FAILS });
    throw error;
  }
  record({ program, call, result: WORKS });
}

export function readOutcomes(file: string): readonly Outcome[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

function record(outcome: Outcome): void {
  const file = process.env[OUTCOMES_VARIABLE];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(outcome)}\n`);
}
