// Gateways in processes of their own, on one database: started, told where to end, halt or stop, and replaced.
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Db } from '../../../src/db/index.ts';
import type { Edit } from './edits.ts';
import type { Command, Order, Report } from './process.ts';

const STOP_MS_MAX = 20_000;
/** From its report that it has come to the point to its halt. */
const REPORT_TO_HALT_MS = 50;

export class Gateway {
  readonly url: string;
  /** Its row among the processes of the deployment. */
  readonly row: string;
  readonly #child: ChildProcess;
  #order: Order | undefined;
  #isHalted = false;
  #isStopping = false;

  constructor(child: ChildProcess, url: string, row: string) {
    this.#child = child;
    this.url = url;
    this.row = row;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get isHalted(): boolean {
    return this.#isHalted;
  }

  /** Whether it would answer. */
  get isUp(): boolean {
    return this.isAlive && !this.#isHalted && !this.#isStopping;
  }

  /** Whether it would answer and nothing is to happen to it. */
  get isSafe(): boolean {
    return this.isUp && this.#order === undefined;
  }

  /** It ends, halts or stops itself when it comes to a point. */
  order(order: Order): void {
    this.#order = order;
    this.#tell(order);
  }

  /** It has come to the point, and does not answer any more. */
  obey(signal: Order['signal']): void {
    const isOrdered = this.#order?.signal === signal;
    this.#isHalted = isOrdered && signal === 'SIGSTOP';
    this.#isStopping = isOrdered && signal === 'SIGTERM';
    // It came there before it read that it should go on.
    if (!isOrdered && signal === 'SIGSTOP') setTimeout(() => this.#child.kill('SIGCONT'), REPORT_TO_HALT_MS);
  }

  /** Halts it wherever it is. */
  halt(): void {
    this.#isHalted = true;
    this.#child.kill('SIGSTOP');
  }

  /** Halted or not, and whatever it was ordered. */
  goOn(): void {
    if (!this.isAlive) return;
    if (this.#order !== undefined) this.#tell('go on');
    this.#order = undefined;
    this.#isHalted = false;
    this.#child.kill('SIGCONT');
  }

  /** It stops in order, wherever it is, or at last is killed. */
  async stop(): Promise<void> {
    if (!this.isAlive) return;
    const stopped = once(this.#child, 'exit');
    if (!this.#isStopping) this.#child.kill('SIGTERM');
    this.#isStopping = true;
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await stopped;
    clearTimeout(timer);
  }

  /** It may have died a moment ago. */
  #tell(command: Command): void {
    this.#child.send(command, () => undefined);
  }

  async kill(): Promise<void> {
    const dead = this.isAlive ? once(this.#child, 'exit') : undefined;
    this.#child.kill('SIGKILL');
    await dead;
  }
}

export interface Fleet {
  readonly db: Db;
  readonly environment: NodeJS.ProcessEnv;
  /** Planted bugs. */
  readonly edits: readonly Edit[];
  /** Errors that a gateway has logged. */
  readonly complaints: string[];
}

interface Spare {
  readonly child: ChildProcess;
  /** Resolves to its address once it has begun. */
  readonly ready: Promise<string>;
  readonly heard: EventEmitter;
}

/** As many gateways as there should be; a dead one is replaced on demand. */
export class Gateways {
  readonly #fleet: Fleet;
  readonly #all: Gateway[] = [];
  readonly #rows = new Set<string>();
  #starting: Promise<unknown> = Promise.resolve();
  #spare: Spare | undefined;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Those that answer; the safest last. */
  get up(): readonly Gateway[] {
    return this.#all.filter(({ isUp }) => isUp).sort((one, other) => Number(one.isSafe) - Number(other.isSafe));
  }

  /** Starts as many as are missing, one after the other: a new row is then the new one's. */
  fill(count: number): Promise<void> {
    const filled = this.#starting.then(async () => {
      await this.bury();
      // One that has an order left may die meanwhile.
      while (this.up.length < count) this.#all.push(await this.#start());
    });
    this.#starting = filled.catch(() => undefined);
    return filled;
  }

  /** The dead are taken off the list of processes, so that no process waits for their acknowledgement. */
  async bury(): Promise<void> {
    const dead = this.#all.filter(({ isAlive }) => !isAlive);
    const left = this.#all.filter(({ isAlive }) => isAlive);
    this.#all.splice(0, this.#all.length, ...left);
    for (const { row } of [...dead, ...left.filter(({ isHalted }) => isHalted)]) {
      await this.#fleet.db.run('delete from processes where id = $1', [row]).catch(() => 0);
    }
  }

  async stop(): Promise<void> {
    await this.#starting;
    this.#spare?.child.kill('SIGKILL');
    await Promise.all(this.#all.map((gateway) => gateway.kill()));
  }

  async #start(): Promise<Gateway> {
    const { child, ready, heard } = this.#spare ?? this.#spawn();
    this.#spare = this.#spawn();
    child.send('begin');
    const gateway = new Gateway(child, await ready, await this.#newRow());
    heard.on('reached', (signal) => gateway.obey(signal));
    return gateway;
  }

  /** A process that reads its modules while others still work, and then waits to be wanted. */
  #spawn(): Spare {
    const { environment, edits, complaints } = this.#fleet;
    const script = fileURLToPath(new URL('./process.ts', import.meta.url));
    const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const;
    const child = fork(script, [JSON.stringify(edits)], { env: environment, stdio: [...stdio] });
    if (child.stdout === null) throw new Error('a gateway cannot be heard');
    const heard = new EventEmitter();
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report = JSON.parse(line) as Report;
      if (report.report === 'ready') heard.emit('ready', report.url);
      if (report.report === 'reached') heard.emit('reached', report.signal);
      if (report.report === 'error') complaints.push(report.line);
    });
    const failed = once(child, 'exit').then(() => Promise.reject(new Error('a gateway did not start')));
    const ready = Promise.race([once(heard, 'ready').then(([url]) => String(url)), failed]);
    // One that is never wanted is killed in the end.
    ready.catch(() => undefined);
    return { child, ready, heard };
  }

  async #newRow(): Promise<string> {
    const rows = await this.#fleet.db.rows<{ id: string }>('select id from processes order by started_at desc');
    const row = rows.find(({ id }) => !this.#rows.has(id))?.id ?? '';
    this.#rows.add(row);
    return row;
  }
}
