import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { ownDatabase, Program, SERVE } from './program.ts';

/** The command for two processes under a supervisor. */
export const SERVE_TWO: readonly string[] = [...SERVE, '--processes', '2'];

export async function startTwo(t: TestContext): Promise<Program> {
  const program = await Program.start(t, await ownDatabase(t), SERVE_TWO);
  assert.equal(childrenOf(program).length, 2);
  return program;
}

/** The processes that a supervisor has started, without a database server. */
export function childrenOf(program: Program): number[] {
  const { pid } = program.child;
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return pids.filter((child) => readFileSync(`/proc/${child}/comm`, 'utf8').trim() !== 'postgres');
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
