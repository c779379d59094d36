import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { called } from './record.ts';

// biome-ignore lint/suspicious/noExplicitAny: scripts print values of every shape
type Value = any;

interface Step {
  /** In the library's own words, such as `chat.completions.create`. */
  readonly call: string;
  readonly value?: Value;
  /** What the call threw. */
  readonly error?: string;
}

/** What the steps of a script printed, one JSON object a line. */
export class Steps {
  readonly #program: string;
  readonly #steps: readonly Step[];
  readonly #err: string;

  constructor(program: string, { out, err }: { readonly out: string; readonly err: string }) {
    this.#program = program;
    this.#steps = out.split('\n').flatMap((line) => (line.startsWith('{"call":') ? [JSON.parse(line)] : []));
    this.#err = err;
  }

  /** A subtest about what came back of one call, whose outcome becomes part of the table. */
  async check(t: TestContext, call: string, assertion: (value: Value) => unknown): Promise<void> {
    await t.test(call, () =>
      called(this.#program, `\`${call}\``, async () => {
        const step = this.#steps.find((each) => each.call === call);
        assert.ok(step !== undefined, `the script did not come to "${call}": ${this.#err}`);
        assert.equal(step.error, undefined);
        await assertion(step.value);
      }),
    );
  }

  /** What the answers said that they cost: the members `credits` of the steps' values. */
  get credits(): number {
    return this.#steps.reduce((sum, { value }) => sum + (value?.credits ?? 0), 0);
  }
}
