import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Random } from '../packages/verify/src/random.ts';
import { applyDocument, Catalogue, type CatalogueDeps } from '../src/catalogue/index.ts';
import { Secret } from '../src/config.ts';
import { Bus, openDb, type PooledDb } from '../src/db/index.ts';
import { ApiError, UpstreamError } from '../src/errors.ts';
import { candidatesFor, firstThatWorks, Health } from '../src/routing/index.ts';
import { vendors as listed, UpstreamPools, Vendors } from '../src/vendors/index.ts';
import { ManualClock } from './support/clock.ts';
import { createDatabase, silentLog, type TestDatabase } from './support/database.ts';
import { tokenModel } from './support/paid-calls.ts';

const REQUESTS = 10_000;
const PER_SECOND = 50;
const SEEDS = [1, 2, 3];

let database: TestDatabase;
let db: PooledDb;
let bus: Bus;
const pools = new UpstreamPools();
const vendors = new Vendors(listed);
before(async () => {
  database = await createDatabase();
  db = openDb(database.address, silentLog);
  bus = new Bus(db, 'proc_simulation', silentLog);
  await bus.start();
});
after(async () => {
  await bus.stop();
  await db.close();
  await database.drop();
});

let worlds = 0;

/** Real routing, upstreams that fail as they are told, time by hand and chance from a seed. */
class World {
  readonly clock = new ManualClock();
  readonly random: Random;
  readonly touched = new Map<string, number>();
  readonly #health: Health;
  readonly #catalogue: Catalogue;
  readonly #fails: (upstreamId: string, world: World) => boolean;

  private constructor(seed: number, catalogue: Catalogue, fails: (upstreamId: string, world: World) => boolean) {
    this.random = new Random(seed);
    this.#catalogue = catalogue;
    this.#fails = fails;
    const pacing = { random: () => this.random.next(), pause: async () => undefined };
    this.#health = new Health({ db, bus, clock: this.clock, log: silentLog, pacing });
  }

  static async of(
    seed: number,
    names: readonly string[],
    fails: (upstreamId: string, world: World) => boolean,
  ): Promise<World> {
    worlds++;
    const ids = names.map((name) => `${name}-${worlds}`);
    const secret = new Secret('root-secret-of-the-tests-0123456789abcdef');
    const deps: CatalogueDeps = {
      db,
      bus,
      clock: new ManualClock(),
      log: silentLog,
      rootSecret: secret,
      environment: {},
      vendors,
    };
    const upstreams = ids.map((id) => ({ id, vendor: 'openai', base_url: 'http://127.0.0.1:9/v1' }));
    const document = JSON.stringify({ upstreams, models: [tokenModel('talker', ids)] });
    await applyDocument(deps, { name: 'test', requestId: undefined }, document);
    const catalogue = new Catalogue(deps);
    await catalogue.reload();
    return new World(seed, catalogue, (id, world) => fails(id.split('-')[0] ?? '', world));
  }

  /** 'answered', or the code of the refusal, and after how many attempts. */
  async request(number: number): Promise<{ readonly outcome: string; readonly attempts: number }> {
    const deps = { health: this.#health, catalogue: this.#catalogue, vendors, pools, log: silentLog };
    const model = this.#catalogue.snapshot.find('talker', ['default']);
    assert.ok(model !== undefined);
    let attempts = 0;
    try {
      const candidates = candidatesFor(deps, { groups: ['default'] }, model, () => true);
      const context = { requestId: `req_${number}`, signal: new AbortController().signal };
      await firstThatWorks(deps, candidates, context, async ({ upstreamId }) => {
        attempts++;
        const name = upstreamId.split('-')[0] ?? '';
        this.touched.set(name, (this.touched.get(name) ?? 0) + 1);
        if (this.#fails(upstreamId, this)) throw new UpstreamError('server', 'status 500');
      });
      return { outcome: 'answered', attempts };
    } catch (error) {
      assert.ok(error instanceof ApiError, String(error));
      return { outcome: error.code, attempts };
    }
  }

  /** All of them, evenly spaced. */
  async traffic(requests: number): Promise<{ answered: number; untried: number }> {
    let answered = 0;
    let untried = 0;
    for (let number = 0; number < requests; number++) {
      const { outcome, attempts } = await this.request(number);
      if (outcome === 'answered') answered++;
      if (attempts === 0) untried++;
      this.clock.advance(1 / PER_SECOND);
    }
    return { answered, untried };
  }
}

const oneInSeven = (_name: string, { random }: World) => random.next() < 1 / 7;

for (const seed of SEEDS) {
  describe(`R-512 R-516: upstream health, ${REQUESTS} requests at ${PER_SECOND} per second, seed ${seed}`, () => {
    test('two upstreams that each fail 1 attempt in 7: 99 % are answered, and no request is refused untried', async () => {
      const world = await World.of(seed, ['first', 'second'], oneInSeven);
      const { answered, untried } = await world.traffic(REQUESTS);
      assert.ok(answered >= 0.99 * REQUESTS, `answered ${answered}`);
      assert.equal(untried, 0);
    });

    test('one dead and one well: all are answered, and fewer than 1 % touch the dead one', async () => {
      const world = await World.of(seed, ['dead', 'well'], (name) => name === 'dead');
      const { answered } = await world.traffic(REQUESTS);
      assert.equal(answered, REQUESTS);
      const touched = world.touched.get('dead') ?? 0;
      assert.ok(touched >= 3 && touched < 0.01 * REQUESTS, `touched ${touched}`);
    });

    test('one upstream alone that fails 1 attempt in 7: 97 % are answered', async () => {
      const world = await World.of(seed, ['only'], oneInSeven);
      const { answered } = await world.traffic(REQUESTS);
      assert.ok(answered >= 0.97 * REQUESTS, `answered ${answered}`);
    });

    test('all dead for a minute and then well: served again within 15 seconds, and for good', async () => {
      let isDead = true;
      const world = await World.of(seed, ['first', 'second'], () => isDead);
      const dead = await world.traffic(60 * PER_SECOND);
      assert.equal(dead.answered, 0);
      isDead = false;
      const recovery = await world.traffic(15 * PER_SECOND);
      assert.ok(recovery.answered > 0, `answered ${recovery.answered}`);
      assert.equal((await world.traffic(REQUESTS)).answered, REQUESTS);
    });
  });
}
