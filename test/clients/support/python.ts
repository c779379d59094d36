import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientProgram } from '../versions.ts';
import { runScript } from './run.ts';
import { ClientWorld } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: scripts print values of every shape
type Check = (value: any) => unknown;

/**
 * A test of a library in Python: its script is told an address and a key, each step must have come to what is checked here,
 * and the account must have spent exactly what the answers said.
 */
export function testPythonLibrary(name: string, checks: Readonly<Record<string, Check>>): void {
  let world: ClientWorld;
  before(async () => {
    world = await ClientWorld.start();
  });
  after(() => world.stop());

  test(`${clientProgram(name).title}, with an address and a key`, async (t) => {
    const caller = await world.caller();
    const steps = await runScript(t, world, name, { TOLLGATE_URL: world.urls.origin, TOLLGATE_KEY: caller.key });
    for (const [call, check] of Object.entries(checks)) await steps.check(t, call, check);
    await t.test('the account has spent what the answers said', () => world.assertCharged(caller, steps.credits));
  });
}

/** The whole text, and where the script joins its pieces, the same from them. */
export const tellsSum: Check = ({ text, deltas = text }) => assert.deepEqual([text, deltas], ['12 * 7 = 84', text]);

/** Libraries give the arguments of a tool as an object or as its JSON. */
export const callsWeather: Check = ({ tool: [name, input], text = 'Sunny' }) => {
  const city = typeof input === 'string' ? JSON.parse(input) : input;
  assert.deepEqual([name, city], ['weather', { city: 'Bern' }]);
  assert.match(text, /Sunny/);
};

/** Where the library calls the tool by itself. */
export const usesWeather: Check = ({ text, tools = ['weather'] }) => {
  assert.deepEqual(tools, ['weather']);
  assert.match(text, /Sunny in Bern/);
};

export const describesBern: Check = ({ city }) => {
  assert.equal(city.name, 'Bern');
  assert.ok(Number.isInteger(city.people), city);
};

export const hasTwoVectors: Check = ({ lengths }) => assert.deepEqual(lengths, [1024, 1024]);

/** A refusal in the library's own class, with the gateway's status. */
export const raises =
  (name: string, status: number): Check =>
  (raised) =>
    assert.deepEqual([raised.class, raised.status], [name, status], raised.message);
