import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import { firstUuidAt } from '../ids.ts';
import { postJournal } from '../ledger/index.ts';
import { usageBetween, wholeHours } from '../usage/index.ts';
import { CONSOLE, type UsageRange } from './usage.ts';

export const USAGE_GROUPINGS = ['day', 'account', 'key', 'model', 'modality', 'endpoint'] as const;
export type UsageGrouping = (typeof USAGE_GROUPINGS)[number];

/** What an operator can group by besides: callers must not learn of upstreams. */
export const OPERATOR_GROUPINGS = [...USAGE_GROUPINGS, 'upstream'] as const;

/** What days can be divided by. */
export const SPLITS = ['model', 'key', 'modality', 'endpoint', 'account'] as const satisfies readonly UsageGrouping[];
type UsageSplit = (typeof SPLITS)[number];

/** What was charged and what failed, of one group; of one day and group where days are divided. */
export interface UsageReportRow {
  readonly group: string;
  /** Empty where days are not divided. */
  readonly part: string;
  readonly requests: number;
  readonly credits: MicroCredits;
  /** Requests that were answered with an error, by the request log; null where the log does not reach so far back. */
  readonly errors: number | null;
}

/** What is left out does not matter. */
export interface UsageFilter extends UsageRange {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  /** Of the row before the first. */
  readonly after?: Pick<UsageReportRow, 'group' | 'part'> | undefined;
  readonly limit: number;
}

export interface UsageDivision {
  readonly grouping: UsageGrouping;
  readonly split?: UsageSplit | undefined;
}

/**
 * Credits are the ledger's own, to the micro-credit, at the time of the entry; a request that cost nothing is no usage.
 * Rows are in the order of their groups. What has neither charges nor errors has no row. `loggedSince` is the time from
 * which the request log is whole.
 */
export async function usageReport(
  db: Db,
  division: UsageDivision,
  filter: UsageFilter,
  loggedSince: Date | undefined,
): Promise<readonly UsageReportRow[]> {
  const { account, key, model, endpoint, from, to, after, limit } = filter;
  await postJournal(db, account);
  const rows = await db.rows<UsageReportRow>(usageStatement(division, account !== undefined), [
    account,
    from,
    to,
    key,
    model,
    endpoint,
    firstUuidAt(from.getTime()),
    firstUuidAt(to.getTime()),
    after?.group ?? '',
    after?.part ?? '',
    limit,
    ...wholeHours(from, to),
  ]);
  const isLogged = (row: UsageReportRow) =>
    loggedSince !== undefined && startOf(row, division, from).getTime() >= loggedSince.getTime();
  return rows.map((row) => (isLogged(row) ? row : { ...row, errors: null }));
}

/** From when on a row counts. */
function startOf({ group }: UsageReportRow, { grouping }: UsageDivision, from: Date): Date {
  const day = grouping === 'day' ? new Date(`${group}T00:00:00Z`) : from;
  return day > from ? day : from;
}

/** `event` has the time and the account; `call` the key, the model and the endpoint. */
function groupText(grouping: UsageGrouping, event: string, call: string): string {
  switch (grouping) {
    case 'day':
      return `to_char(${event}.created_at at time zone 'UTC', 'YYYY-MM-DD')`;
    case 'account':
      return `${event}.account_id`;
    case 'key':
      return `coalesce(${call}.key_id, '${CONSOLE}')`;
    case 'model':
      return `coalesce(${call}.model, '')`;
    case 'endpoint':
      return `${call}.endpoint`;
    case 'modality':
      return `case when ${call}.endpoint in ('images', 'image_edits') then 'image' when ${call}.endpoint = 'videos' then 'video'
        when ${call}.endpoint in ('chat', 'native', 'embeddings') then 'chat'
        when ${call}.endpoint in ('audio_speech', 'audio_music', 'transcriptions') then 'audio' else '' end`;
  }
}

/** Parameters 1, 4, 5 and 6: account, key, model, endpoint. */
export function narrowedTo(ofAccount: boolean, event: string, call: string): string {
  return `${ofAccount ? `${event}.account_id = $1` : '$1::text is null'}
      and ($4::text is null or coalesce(${call}.key_id, '${CONSOLE}') = $4)
      and ($5::text is null or ${call}.model = $5) and ($6::text is null or ${call}.endpoint = $6)`;
}

function usageStatement({ grouping, split }: UsageDivision, ofAccount: boolean): string {
  const groups = (event: string, call: string) =>
    `${groupText(grouping, event, call)} as "group", ${split === undefined ? `''` : groupText(split, event, call)} as part`;
  const narrowed = (event: string, call: string) => narrowedTo(ofAccount, event, call);
  const parameters = { from: '$2', to: '$3', firstHour: '$12', endOfHours: '$13' };
  return `with charged as (
      select ${groups('u', 'u')}, sum(u.requests)::int as requests, sum(u.credits)::bigint as credits
      from (${usageBetween({ ...parameters, account: ofAccount ? '$1' : undefined })}) as u
      where ${narrowed('u', 'u')}
      group by 1, 2
    ), failed as (
      select ${groups('l', 'l')}, sum(l.requests)::int as errors
      from request_log l
      where l.id >= $7 and l.id < $8 and (l.status >= 400 or l.error_code is not null) and ${narrowed('l', 'l')}
      group by 1, 2
    )
    select "group", part, coalesce(requests, 0) as requests, coalesce(credits, 0) as credits, coalesce(errors, 0) as errors
    from charged full join failed using ("group", part)
    where ("group" collate "C", part collate "C") > ($9, $10)
    order by "group" collate "C", part collate "C" limit $11`;
}
