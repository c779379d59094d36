import { cpuMicrosOf, machineMicros, processTree } from './processes.ts';
import type { Row } from './table.ts';

/** Runs one part and adds what else used the processors meanwhile: how far to trust its figures. */
export async function withInterference(part: string, run: () => Promise<Row[]>): Promise<Row[]> {
  const [machineBefore, ownBefore] = [machineMicros(), ownMicros()];
  const rows = await run();
  const [machine, own] = [machineMicros(), ownMicros()];
  const all = machine.all - machineBefore.all;
  const others = machine.busy - machineBefore.busy - (own - ownBefore);
  const stolen = machine.stolen - machineBefore.stolen;
  const percent = (100 * (others + stolen)) / all;
  const measure = `${part}: share of the machine that other programs and other guests of its host used meanwhile, %`;
  return [...rows, { measure, bare: undefined, tollgate: Math.max(0, percent), ratio: '', goal: '≤ 5' }];
}

/** The bench, its servers and their databases, and of all those the ones that have ended. */
function ownMicros(): number {
  return cpuMicrosOf(processTree(process.pid));
}
