// A campaign: cases by number from several lanes at once, each judged as it ends, and the whole at its end.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Case, caseOf, type Ground } from './cases.ts';
import { modelsFor, upstreamIds } from './catalogue.ts';
import { type Address, type Exchange, Lane, type Reply, talk } from './client.ts';
import { Credentials } from './credentials.ts';
import { chargedRefusals, type Finding, Findings } from './findings.ts';
import { STALL_MS_MAX } from './goals.ts';
import type { ProbeReport } from './health-probe.ts';
import { KnownIds } from './known-ids.ts';
import { type OpenApi, operationsOf } from './operations.ts';
import { Verdict } from './verdict.ts';
import type { FuzzDatabase, FuzzWorld, Memory } from './world.ts';

export interface CampaignOptions {
  readonly seed: number;
  readonly requests: number;
  readonly lanes: number;
  /** The number of the first case. */
  readonly from?: number;
  /** Plays only the case with this number. */
  readonly only?: number | undefined;
  readonly progress: (line: string) => void;
}

export interface Campaign {
  readonly requests: number;
  readonly seconds: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** How often each operation was answered with each status and code, in each corpus. */
  readonly coverage: ReadonlyMap<string, number>;
  readonly health: ProbeReport;
  /** Of the event loop, in processor time, collections for measuring aside. */
  readonly longestTurnMs: number;
  /** After each part of the run. */
  readonly memory: readonly Memory[];
  readonly findings: readonly Finding[];
}

const NOT_ASKED: ProbeReport = {
  asked: 0,
  longestMs: 0,
  longestOwnMs: 0,
  late: 0,
  lateOwn: 0,
  failed: 0,
  ownDelayMs: 0,
};
const PARTS = 10;
const DEADLINE_MS = 60_000;
/** Longer than an upstream's deadline. */
const SLOW_MS = 5_000;
const MEASURED_MS = 100;
const RESET_EVERY_MS = 300;
const FILES_DELETED_EVERY = 20;

export async function runCampaign(
  world: FuzzWorld,
  database: FuzzDatabase,
  options: CampaignOptions,
): Promise<Campaign> {
  const player = await Player.prepare(world, database, options);
  const startedMs = performance.now();
  const memory: Memory[] = [];
  const resets = setInterval(() => player.resetBreaker(), RESET_EVERY_MS);
  try {
    for (let part = 1; part <= PARTS; part++) {
      await player.playUntil(Math.ceil((options.requests * part) / PARTS));
      if (!world.isUp) break;
      memory.push(await player.measureMemory());
      options.progress(player.show(memory.at(-1), await world.health()));
    }
  } finally {
    clearInterval(resets);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  if (world.isUp) await player.checkMoney();
  player.findings.addErrors(world.errors);
  if (!world.isUp) player.findings.add('the process ended', undefined);
  player.findings.addGrowth(memory, options.requests);
  const health = world.isUp ? await world.health() : NOT_ASKED;
  return {
    requests: player.played,
    seconds,
    statuses: player.statuses,
    coverage: player.coverage,
    longestTurnMs: player.longestTurnMs,
    health,
    memory,
    findings: player.findings.all,
  };
}

class Player {
  readonly findings: Findings;
  readonly statuses: Record<string, number> = {};
  readonly coverage = new Map<string, number>();
  played = 0;
  readonly #world: FuzzWorld;
  readonly #options: CampaignOptions;
  readonly #ground: Ground;
  readonly #verdict: Verdict;
  readonly #ids: KnownIds;
  readonly #address: Address;
  #next: number;
  #restoring: Promise<void> | undefined;
  #resets = 0;
  readonly #files: string[] = [];
  readonly #underWay = new Set<Case>();
  #isMeasuring = false;
  longestTurnMs = 0;

  private constructor(world: FuzzWorld, options: CampaignOptions, ground: Ground, ids: KnownIds, verdict: Verdict) {
    this.#world = world;
    this.#options = options;
    this.#ground = ground;
    this.#ids = ids;
    this.#verdict = verdict;
    this.#next = options.from ?? 0;
    this.findings = new Findings(options.seed, options.progress);
    world.onBlocked = (ms) => this.#noteBlocked(ms);
    const { hostname, port } = new URL(world.url);
    this.#address = { host: hostname, port: Number(port) };
  }

  static async prepare(world: FuzzWorld, database: FuzzDatabase, options: CampaignOptions): Promise<Player> {
    await world.admin('PUT', '/config', world.configuration);
    const credentials = new Credentials(await world.makeSecrets(database));
    const ids = new KnownIds(await spared(world));
    const document = (await (await fetch(`${world.url}/openapi.json`)).json()) as OpenApi;
    const ground: Ground = {
      operations: operationsOf(document),
      components: document.components.schemas,
      surroundings: {
        filesUrl: `http://127.0.0.1:${world.ports.honest}/files`,
        samples: world.ports.samples.map((sample) => ({ ...sample, bytes: Buffer.from(sample.bytes) })),
        models: modelsFor,
      },
      credentials,
      knownId: (parameter, random) => ids.pick(parameter, random),
      configuration: world.configuration,
    };
    const contract = document as unknown as ConstructorParameters<typeof Verdict>[0];
    return new Player(world, options, ground, ids, new Verdict(contract));
  }

  /** Resolves when all cases below this number have been played, on so many connections at once. */
  async playUntil(end: number): Promise<void> {
    const lanes = Array.from({ length: this.#options.lanes }, () => new Lane(this.#address, DEADLINE_MS));
    await Promise.all(lanes.map((lane) => this.#playOn(lane, end)));
    for (const lane of lanes) lane.close();
  }

  async #playOn(lane: Lane, end: number): Promise<void> {
    while (this.#next < end && this.#world.isUp) {
      const number = this.#next++;
      if (this.#options.only !== undefined && this.#options.only !== number) continue;
      const one = caseOf(this.#options.seed, number, this.#ground);
      const startedMs = performance.now();
      this.#underWay.add(one);
      const exchange = await this.#exchange(lane, one);
      this.#underWay.delete(one);
      this.#noteSlow(one, performance.now() - startedMs);
      this.played++;
      for (const reply of exchange.replies) this.#count(one, reply);
      for (const fault of this.#verdict.faultsOf(one, exchange)) this.findings.add(fault, one, exchange);
      if (this.#options.only !== undefined) this.#options.progress(show(one, exchange));
      await this.#follow(one, exchange);
    }
  }

  /** With several lanes a slow one holds up others: the first of those that end together, or --lanes 1, tells. */
  #noteSlow({ number, operation }: Case, tookMs: number): void {
    if (tookMs > SLOW_MS) this.#options.progress(`slow: case ${number}, ${operation}, ${Math.round(tookMs)} ms`);
  }

  /** The collections are no stalls of the program's own. */
  async measureMemory(): Promise<Memory> {
    this.#isMeasuring = true;
    const memory = await this.#world.memory();
    // The turn that it took is told after it.
    await sleep(MEASURED_MS);
    this.#isMeasuring = false;
    return memory;
  }

  #noteBlocked(ms: number): void {
    if (this.#isMeasuring) return;
    this.longestTurnMs = Math.max(this.longestTurnMs, ms);
    const cases = [...this.#underWay].map(({ number, operation }) => `${number} ${operation}`);
    this.#options.progress(`blocked: ${Math.round(ms)} ms of processor time, during ${cases.slice(0, 4).join('; ')}`);
    if (ms > STALL_MS_MAX) {
      const first = [...this.#underWay][0];
      this.findings.add(`the event loop stood still for ${Math.round(ms)} ms of processor time`, first);
    }
  }

  #count({ corpus, operation }: Case, { status, body }: Reply): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    const code = status < 400 ? '' : (/"code":"(\w+)"/.exec(body.subarray(0, 1_000).toString('latin1'))?.[1] ?? '');
    const place = `${corpus} ${operation} ${status} ${code}`;
    this.coverage.set(place, (this.coverage.get(place) ?? 0) + 1);
  }

  #exchange(lane: Lane, { pieces, ending, method }: Case): Promise<Exchange> {
    if (ending === 'answer') return lane.ask(pieces, method === 'HEAD');
    return talk(this.#address, pieces, ending, DEADLINE_MS);
  }

  /** Undoes what would keep the rest of the campaign from getting anywhere. */
  async #follow({ method, target }: Case, { replies: [reply] }: Exchange): Promise<void> {
    if (reply === undefined || reply.status >= 300) return;
    const text = reply.body.subarray(0, 20_000).toString('utf8');
    this.#ids.learn(text);
    if (method === 'GET') return;
    if (/^\/api\/admin\/config(?:$|\?|\/versions)/.test(target)) await this.#restore();
    const [, upstreamId] = /^\/api\/admin\/upstreams\/([\w-]+)(?:$|\?)/.exec(target) ?? [];
    if (upstreamId !== undefined) await this.#world.enable(upstreamId);
    if (/\/files(?:$|\?)/.test(target)) await this.#forgetFile(text);
  }

  async #restore(): Promise<void> {
    this.#restoring ??= this.#world.restore().finally(() => {
      this.#restoring = undefined;
    });
    await this.#restoring;
  }

  /** An account may have so many files and no more. */
  async #forgetFile(text: string): Promise<void> {
    const id = /"(file_\w+)"/.exec(text)?.[1];
    if (id === undefined || this.#files.push(id) < FILES_DELETED_EVERY) return;
    await this.#world.db.run('update files set expires_at = created_at where id = any($1)', [this.#files.splice(0)]);
  }

  /** Liars are found out soon, and then not asked again for a while. */
  resetBreaker(): void {
    const ids = upstreamIds();
    const id = ids[this.#resets++ % ids.length] ?? '';
    this.#world.admin('POST', `/upstreams/${id}/reset`).catch(() => undefined);
  }

  async checkMoney(): Promise<void> {
    const books = await this.#world.admin('GET', '/books?full=1');
    if (books.balanced !== true) this.findings.add(`the books do not balance: ${JSON.stringify(books)}`, undefined);
    for (const fault of await chargedRefusals(this.#world.db)) this.findings.add(fault, undefined);
  }

  show(memory: Memory | undefined, { longestMs, late, lateOwn }: ProbeReport): string {
    const mib = (bytes = 0) => Math.round(bytes / 1024 / 1024);
    const parts = [
      `${this.played} requests`,
      `${mib(memory?.usedBytes)} MiB used, ${mib(memory?.residentBytes)} MiB resident`,
      `longest wait for /healthz ${Math.round(longestMs)} ms (${late} above the goal, ${lateOwn} with a processor of its own)`,
      `${this.findings.all.length} findings`,
    ];
    return parts.join(', ');
  }
}

/** Whatever stands in these tables by now. */
async function spared({ db }: FuzzWorld): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const table of ['accounts', 'api_keys', 'people', 'sessions', 'oauth_clients', 'oauth_grants', 'grants']) {
    for (const { id } of await db.rows<{ id: string }>(`select id from ${table}`)) ids.add(id);
  }
  return ids;
}

function show({ pieces }: Case, { replies, rest }: Exchange): string {
  const request = Buffer.concat(pieces).subarray(0, 4_000).toString('latin1');
  const answers = replies.map(
    ({ status, headers, body }) => `${status} ${JSON.stringify(headers)}\n${body.toString('utf8', 0, 2_000)}`,
  );
  return ['--- request', request, '--- answers', ...answers, rest].join('\n');
}
