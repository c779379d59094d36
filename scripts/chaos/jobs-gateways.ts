// Gateways in processes of their own, on one database: started, told where to end or halt, and replaced.
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Db } from '../../src/db/index.ts';
import type { Edit } from './jobs-planted.ts';
import type { Order, Said } from './jobs-process.ts';

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

interface Spare {
  readonly child: ChildProcess;
  /** Resolves to its address once it has begun. */
  readonly ready: Promise<string>;
  readonly heard: EventEmitter;
}

/** As many gateways as there should be; whoever dies is replaced when somebody asks for it. */
export class Gateways {
  readonly #fleet: Fleet;
  readonly #all: Gateway[] = [];
  readonly #rows = new Set<string>();
  #starting: Promise<unknown> = Promise.resolve();
  #spare: Spare | undefined;

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
    this.#spare?.child.kill('SIGKILL');
    await Promise.all(this.#all.map((gateway) => gateway.kill()));
  }

  async #start(): Promise<Gateway> {
    const { child, ready, heard } = this.#spare ?? this.#spawn();
    this.#spare = this.#spawn();
    child.send('begin');
    const gateway = new Gateway(child, await ready, await this.#newRow());
    heard.on('reached', (point: string) => gateway.reached.push(point));
    return gateway;
  }

  /** A process that reads its modules while others still work, and then waits to be wanted. */
  #spawn(): Spare {
    const { environment, edits, complaints } = this.#fleet;
    const script = fileURLToPath(new URL('./jobs-process.ts', import.meta.url));
    const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const;
    const child = fork(script, [JSON.stringify(edits)], { env: environment, stdio: [...stdio] });
    if (child.stdout === null) throw new Error('a gateway cannot be heard');
    const heard = new EventEmitter();
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Said;
      if (said.said === 'ready') heard.emit('ready', said.url);
      if (said.said === 'reached') heard.emit('reached', said.point);
      if (said.said === 'error') complaints.push(said.line);
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
