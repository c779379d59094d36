// What was found: each kind once, with the command that repeats its first case.
import type { Db } from '../../src/db/index.ts';
import type { Case } from './cases.ts';
import type { Exchange } from './client.ts';
import type { Memory } from './world.ts';

export interface Finding {
  readonly fault: string;
  readonly count: number;
  /** The command that plays the first case of it. */
  readonly repeat: string;
}

const MIB = 1024 * 1024;
/** What may still grow is bounded: caches, compiled code, and what the allocator keeps. */
const GROWTH_MAX = { used: 48 * MIB, resident: 160 * MIB };
/** Until here the program is still warming up. */
const WARM_REQUESTS = 20_000;

export class Findings {
  readonly #seed: number;
  readonly #kinds = new Map<string, { fault: string; count: number; repeat: string }>();
  readonly #requestIds = new Map<string, string>();

  readonly #tell: (line: string) => void;

  /** `tell` is given the first of each kind when it is found. */
  constructor(seed: number, tell: (line: string) => void) {
    this.#seed = seed;
    this.#tell = tell;
  }

  get all(): readonly Finding[] {
    return [...this.#kinds.values()];
  }

  add(fault: string, one: Case | undefined, exchange?: Exchange): void {
    const place = one === undefined ? '' : `${one.method} ${one.target.slice(0, 120)}: `;
    const repeat = one === undefined ? '' : `npm run fuzz -- --seed ${this.#seed} --only ${one.number}`;
    const kind = `${one?.corpus === 'wire' ? 'wire' : (one?.method ?? '')} ${pathKind(one?.target ?? '')} ${kindOf(fault)}`;
    const known = this.#kinds.get(kind);
    if (known === undefined) {
      this.#kinds.set(kind, { fault: place + fault, count: 1, repeat });
      this.#tell(`found: ${place}${fault}\n    ${repeat}`);
    } else known.count++;
    const requestId = exchange?.replies[0]?.headers['x-request-id'];
    if (requestId !== undefined && known === undefined) this.#requestIds.set(requestId, kind);
  }

  /** Lines of the log, joined with the answer of the same request where there is one. */
  addErrors(lines: readonly string[]): void {
    for (const line of lines) {
      const requestId = /"request_id":"([^"]*)"/.exec(line)?.[1] ?? '';
      const kind = this.#requestIds.get(requestId);
      const known = kind === undefined ? undefined : this.#kinds.get(kind);
      if (known === undefined) this.add(`in the log: ${line}`, undefined);
      else if (!known.fault.includes('in the log')) known.fault += `\n    in the log: ${line}`;
    }
  }

  addGrowth(memory: readonly Memory[], requests: number): void {
    const first = memory[Math.min(memory.length - 1, Math.ceil((WARM_REQUESTS / requests) * memory.length))];
    const last = memory.at(-1);
    if (first === undefined || last === undefined) return;
    const [used, resident] = [last.usedBytes - first.usedBytes, last.residentBytes - first.residentBytes];
    if (used > GROWTH_MAX.used) this.add(`memory in use grew by ${Math.round(used / MIB)} MiB`, undefined);
    if (resident > GROWTH_MAX.resident)
      this.add(`resident memory grew by ${Math.round(resident / MIB)} MiB`, undefined);
  }
}

/** Without what differs from case to case. */
function kindOf(fault: string): string {
  return fault
    .replace(/"(?:request_id|id|time)":"[^"]*"/g, '')
    .replace(/[a-z]+_[0-9A-Za-z]{24}/g, 'ID')
    .replace(/\d+/g, 'N')
    .slice(0, 160);
}

function pathKind(target: string): string {
  return target
    .replace(/\?.*/, '')
    .replace(/[a-z]+_[0-9A-Za-z]{24}|[0-9a-f-]{36}/g, 'ID')
    .slice(0, 60);
}

/** Refused requests that cost credits all the same. A caller who leaves pays for what was delivered. */
export async function chargedRefusals(db: Db): Promise<string[]> {
  const rows = await db.rows<{ request_id: string; status: number; charged: bigint }>(
    `select l.request_id, l.status, e.charged from request_log l
     join ledger_entries e on e.reservation_id = l.reservation_id
     where l.status between 400 and 498 and e.charged > 0 limit 10`,
  );
  return rows.map(({ request_id, status, charged }) => `${status} of ${request_id} was charged ${charged}`);
}
