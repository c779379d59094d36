// Gateways in processes of their own, on one database: started, told where to end or halt, and replaced.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Db } from '../../src/db/index.ts';
import type { Edit } from './jobs-planted.ts';
import type { Order, Said } from './jobs-process.ts';

const START_MS_MAX = 60_000;

export class Gateway {
  readonly url: string;
  /** Its row among the processes of the deployment. */
  readonly row: string;
  readonly #child: ChildProcess;
  /** The points at which it ended or halted itself. */
  readonly reached: string[] = [];
  isHalted = false;

  constructor(child: ChildProcess, url: string, row: string) {
    this.#child = child;
    this.url = url;
    this.row = row;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Whether it would answer. */
  get isUp(): boolean {
    return this.isAlive && !this.isHalted;
  }

  hear(said: Said): void {
    if (said.said === 'reached') this.reached.push(said.point);
  }

  order(order: Order): void {
    if (order.signal === 'SIGSTOP') this.#haltsAt = order.point;
    this.#child.send(order);
  }

  #haltsAt: string | undefined;

  /** Whether it did as it was ordered. */
  get hasObeyed(): boolean {
    if (this.#haltsAt === undefined) return !this.isAlive;
    this.isHalted = this.reached.includes(this.#haltsAt);
    return this.isHalted;
  }

  /** Halts it at once. */
  halt(): void {
    this.isHalted = true;
    this.#child.kill('SIGSTOP');
  }

  goOn(): void {
    this.isHalted = false;
    this.#haltsAt = undefined;
    this.#child.kill('SIGCONT');
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

/** As many gateways as there should be; whoever dies is replaced when somebody asks for it. */
export class Gateways {
  readonly #fleet: Fleet;
  readonly #all: Gateway[] = [];
  readonly #rows = new Set<string>();
  #starting: Promise<unknown> = Promise.resolve();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  get all(): readonly Gateway[] {
    return this.#all;
  }

  get up(): readonly Gateway[] {
    return this.#all.filter(({ isUp }) => isUp);
  }

  /** Starts as many as are missing, one after the other: a new row is then the new one's. */
  fill(count: number): Promise<void> {
    const filled = this.#starting.then(async () => {
      await this.bury();
      while (this.#all.length < count) this.#all.push(await this.#start());
    });
    this.#starting = filled.catch(() => undefined);
    return filled;
  }

  /** The dead are taken off the list of processes, so that nobody waits for their word. */
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
    await Promise.all(this.#all.map((gateway) => gateway.kill()));
  }

  async #start(): Promise<Gateway> {
    const { environment, edits } = this.#fleet;
    const script = fileURLToPath(new URL('./jobs-process.ts', import.meta.url));
    const child = fork(script, [JSON.stringify(edits)], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    if (child.stdout === null) throw new Error('a gateway cannot be heard');
    const ready = Promise.withResolvers<string>();
    let gateway: Gateway | undefined;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Said;
      if (said.said === 'ready') ready.resolve(said.url);
      if (said.said === 'error') this.#fleet.complaints.push(said.line);
      gateway?.hear(said);
    });
    const failed = () => ready.reject(new Error('a gateway did not start'));
    child.once('exit', failed);
    const timer = setTimeout(failed, START_MS_MAX);
    try {
      const url = await ready.promise;
      gateway = new Gateway(child, url, await this.#newRow());
      return gateway;
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #newRow(): Promise<string> {
    const rows = await this.#fleet.db.rows<{ id: string }>('select id from processes order by started_at desc');
    const row = rows.find(({ id }) => !this.#rows.has(id))?.id ?? '';
    this.#rows.add(row);
    return row;
  }
}
