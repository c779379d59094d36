import { type Account, type Action, apply, copyOf, describe } from './model.ts';

/** What reached one account in one go, and what the ledger answered to it. */
export interface Unit {
  readonly accountId: string;
  readonly action: Action;
  readonly observed: readonly Observed[];
  /** It may have happened or not: its answer was lost on the way, or a duty passed by an account in use. */
  readonly optional: boolean;
  /** Its transaction was rolled back: it was answered, and nothing has changed. */
  readonly undone: boolean;
  /** Its members may have been taken in several goes and any order: after an error a batch is tried again in halves. */
  readonly splittable: boolean;
}

/** Says whether an answer of the model is what was seen. */
export type Observed = (expected: string) => boolean;

/**
 * Looks for an order of the units in which the model gives every answer that was seen, and comes to the state that is
 * in the database. Any such order is legal; the model takes the account that it leads to.
 */
export function findOrder(account: Account, units: readonly Unit[], target: string): Account | undefined {
  if (units.length === 0) return describe(account).join('\n') === target ? account : undefined;
  for (const unit of units) {
    const rest = units.filter((other) => other !== unit);
    for (const [now, later] of waysToTake(unit)) {
      const copy = copyOf(account);
      const answers = apply(copy, now.action);
      if (!answers.every((answer, place) => now.observed[place]?.(answer) ?? true)) continue;
      const found = findOrder(unit.undone ? account : copy, later === undefined ? rest : [...rest, later], target);
      if (found !== undefined) return found;
    }
    if (unit.optional) {
      const found = findOrder(account, rest, target);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The whole unit, or, where it may be split, any of its members together and then what is left. */
function waysToTake(unit: Unit): readonly (readonly [now: Unit, later: Unit | undefined])[] {
  const { action, observed } = unit;
  if (!unit.splittable || action.kind !== 'run') return [[unit, undefined]];
  const subsets = 2 ** action.members.length;
  return Array.from({ length: subsets - 1 }, (_, number) => {
    const only = (isIn: boolean) => (__: unknown, place: number) =>
      (((subsets - 1 - number) >> place) & 1) === Number(isIn);
    const part = (isIn: boolean): Unit => ({
      ...unit,
      action: { ...action, members: action.members.filter(only(isIn)) },
      observed: observed.filter(only(isIn)),
    });
    return [part(true), number === 0 ? undefined : part(false)];
  });
}

/** For people: what the model says if the units come in the order of asking. */
export function explain(account: Account, units: readonly Unit[], target: string): string {
  const copy = copyOf(account);
  const surprises = units.flatMap(({ action, observed, undone }) =>
    apply(undone ? copyOf(copy) : copy, action).flatMap((answer, place) =>
      observed[place]?.(answer) === false ? [`the model answers "${answer}"`] : [],
    ),
  );
  const expected = new Set(describe(copy));
  const actual = new Set(target.split('\n'));
  return [
    ...surprises,
    ...[...expected].filter((line) => !actual.has(line)).map((line) => `model:    ${line}`),
    ...[...actual].filter((line) => !expected.has(line)).map((line) => `database: ${line}`),
  ].join('\n');
}
