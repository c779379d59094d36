import type { Attempt } from './moves.ts';
import type { Observed, Unit } from './order.ts';
import type { Fault } from './scenario.ts';

/** An attempt and the words of its answer. */
export interface Answered {
  readonly attempt: Attempt;
  readonly seen: string;
}

interface Circumstances {
  readonly fault: Fault | undefined;
  /** The process whose line was cut. */
  readonly cutOff: string | undefined;
  readonly accountIds: readonly string[];
}

/**
 * Puts together what reached each account in one go: the members of one process's batch, or one transaction. Moves of
 * one step start in the same turn of the event loop, so a process's batch takes all of its own together.
 */
export function unitsOf(answered: readonly Answered[], circumstances: Circumstances): readonly Unit[] {
  const batches = Map.groupBy(answered.filter(isBatched), ({ attempt }) => attempt.process.id);
  const isAlone = answered.length === 1 || (batches.size === 1 && answered.every(isBatched));
  const inBatches = [...batches.values()].flatMap((batch) => unitsOfBatch(batch, isAlone, circumstances));
  const others = answered.filter((one) => !isBatched(one));
  return [...inBatches, ...others.flatMap((one) => unitsOfOne(one, isAlone, circumstances))];
}

function unitsOfBatch(batch: readonly Answered[], isAlone: boolean, circumstances: Circumstances): readonly Unit[] {
  const cut = cutOf(batch[0], circumstances);
  if (cut === 'before') return [];
  const splittable = hasRepeat(batch);
  // An ending of nothing is answered at once, also when its neighbours have to wait for the account.
  const [strays, members] = [batch.filter(isStray), batch.filter((one) => !isStray(one))];
  const byAccount = Map.groupBy(members, ({ attempt }) => attempt.accountId ?? '');
  const together = [...byAccount].map(([accountId, members]) => ({
    accountId,
    action: asOne(members),
    observed: members.map(({ seen }) => observedAs(seen)),
    // A first try that met a locked account changed nothing there, and was not reported.
    optional: cut === 'after' && !isAlone,
    undone: false,
    splittable,
  }));
  return [...together, ...strays.flatMap((one) => unitsOfOne(one, isAlone, circumstances))];
}

function isStray({ attempt, seen }: Answered): boolean {
  return attempt.move.kind !== 'reserve' && seen === 'unknown';
}

function unitsOfOne(one: Answered, isAlone: boolean, circumstances: Circumstances): readonly Unit[] {
  const { attempt, seen } = one;
  const { action, accountId, move } = attempt;
  const cut = cutOf(one, circumstances);
  const plain = { action, undone: false, splittable: false };
  if (accountId === undefined) {
    if (cut === 'before') return [];
    return circumstances.accountIds.map((id) => ({
      ...plain,
      accountId: id,
      observed: [],
      optional: !isAlone || cut !== undefined,
    }));
  }
  if (move.kind === 'grant') {
    if (cut === 'before' || seen === 'duplicate') return [];
    // Lost, a taking back may have been refused as well; then the model finds nothing to take either.
    const optional = seen === 'lost' && (move.reference !== undefined || move.amount < 0);
    return [{ ...plain, accountId, observed: [observedAs(seen)], optional, undone: seen === 'short' }];
  }
  // A mistake of the caller, or a line cut in the middle, takes the whole transaction back.
  const undone = cut === 'before' || seen === 'unknown' || seen === 'conflict';
  return [{ ...plain, accountId, observed: [observedAs(seen)], optional: false, undone }];
}

function isBatched({ attempt: { move } }: Answered): boolean {
  return 'way' in move && move.way !== 'job';
}

function cutOf(one: Answered | undefined, { fault, cutOff }: Circumstances): 'before' | 'after' | undefined {
  return one?.attempt.process.id === cutOff ? fault?.when : undefined;
}

function asOne(members: readonly Answered[]): Unit['action'] {
  const actions = members.map(({ attempt }) => attempt.action).filter((action) => action.kind === 'run');
  return { kind: 'run', nowMs: actions[0]?.nowMs ?? 0, members: actions.flatMap((action) => action.members) };
}

/** The same reservation held or ended twice in one batch is refused by the database, and the batch tried in halves. */
export function hasRepeat(batch: readonly { readonly attempt: Pick<Attempt, 'move'> }[]): boolean {
  const names = batch.flatMap(({ attempt: { move } }) =>
    'hold' in move ? `${move.kind === 'reserve' ? 'hold' : 'end'} ${move.hold}` : [],
  );
  return new Set(names).size < names.length;
}

/** A bill tells less than the ledger, and a lost answer nothing. */
function observedAs(seen: string): Observed {
  if (seen === 'lost' || seen === 'done') return () => true;
  if (seen === 'admitted') return (expected) => expected.startsWith('admitted');
  if (seen.startsWith('charged ')) return (expected) => expected.split(' ')[1] === seen.slice('charged '.length);
  return (expected) => expected === seen;
}
