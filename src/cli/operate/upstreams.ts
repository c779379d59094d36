import type { Invocation } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { connectOperator } from '../gateway/connect.ts';
import { print, table } from '../output.ts';

interface Upstream {
  readonly id: string;
  readonly vendor: string;
  readonly enabled: boolean;
  readonly priority: number;
  readonly models: readonly string[];
  readonly health: { readonly state: string; readonly last_fault: string | null };
}

const HEAD = ['id', 'vendor', 'enabled', 'health', 'last fault', 'priority', 'models'];

function upstreamRow({ id, vendor, enabled, health, priority, models }: Upstream) {
  return [id, vendor, enabled ? 'yes' : 'no', health.state, health.last_fault, priority, models.length];
}

export async function listUpstreams(invocation: Invocation): Promise<number> {
  const list = await connectOperator(invocation).get<{ data: readonly Upstream[] }>('/api/admin/upstreams');
  print(invocation.options, list, () => table(HEAD, list.data.map(upstreamRow)));
  return EXIT.done;
}

export async function enableUpstream(invocation: Invocation): Promise<number> {
  return change(invocation, 'PATCH', '', { enabled: true });
}

export async function disableUpstream(invocation: Invocation): Promise<number> {
  return change(invocation, 'PATCH', '', { enabled: false });
}

/** Closes every breaker of it. */
export async function resetUpstream(invocation: Invocation): Promise<number> {
  return change(invocation, 'POST', '/reset');
}

async function change(invocation: Invocation, method: 'PATCH' | 'POST', rest: string, json?: object): Promise<number> {
  const path = upstreamPath(invocation) + rest;
  const upstream = await connectOperator(invocation).json<Upstream>(method, path, json === undefined ? {} : { json });
  print(invocation.options, upstream, () => table(HEAD, [upstreamRow(upstream)]));
  return EXIT.done;
}

interface UpstreamTest {
  readonly ok: boolean;
  readonly calls: readonly TestedCall[];
}

interface TestedCall {
  readonly ok: boolean | null;
  readonly what: string;
  readonly duration_ms: number;
  readonly problem: string | null;
  readonly message: string | null;
  readonly detail: string | null;
}

/** Ends with the code of an upstream's failure where the upstream does not answer as it should. */
export async function testUpstream(invocation: Invocation): Promise<number> {
  const query = invocation.options.media === undefined ? '' : '?media=true';
  const path = `${upstreamPath(invocation)}/test${query}`;
  const result = await connectOperator(invocation).json<UpstreamTest>('POST', path);
  print(invocation.options, result, () => result.calls.flatMap(testedLines));
  return result.ok ? EXIT.done : EXIT.upstream;
}

function testedLines({ ok, what, duration_ms, problem, message, detail }: TestedCall): readonly string[] {
  if (ok === true) return [`ok: ${what}, ${duration_ms} ms`];
  if (ok === null) return [`skipped: ${what}`, `  ${message}`];
  return [`${problem}: ${what}, ${duration_ms} ms`, `  ${message}`, ...(detail === null ? [] : [`  ${detail}`])];
}

interface UpstreamModels {
  readonly can_tell: boolean;
  readonly problem: string | null;
  readonly message: string | null;
  readonly detail: string | null;
  readonly data: readonly { readonly id: string; readonly used_by: readonly string[] }[];
  readonly unlisted: readonly string[];
  readonly has_more: boolean;
}

/** Ends with the code of an upstream's failure where the upstream does not list its models although it could. */
export async function listUpstreamModels(invocation: Invocation): Promise<number> {
  const result = await connectOperator(invocation).get<UpstreamModels>(`${upstreamPath(invocation)}/models`);
  print(invocation.options, result, () => modelLines(result));
  return result.problem === null ? EXIT.done : EXIT.upstream;
}

function modelLines({ problem, message, detail, data, unlisted, has_more }: UpstreamModels): readonly string[] {
  if (problem !== null) return [`${problem}: ${message}`, ...(detail === null ? [] : [detail])];
  if (message !== null) return [message];
  return [
    ...table(
      ['model', 'used by'],
      data.map(({ id, used_by }) => [id, used_by.join(', ')]),
    ),
    ...unlisted.map((id) => `Note: a route names ${id}, which the upstream does not list.`),
    ...(has_more ? ['Note: it has more models than are shown.'] : []),
  ];
}

function upstreamPath({ operands }: Invocation): string {
  return `/api/admin/upstreams/${encodeURIComponent(operands[0] ?? '')}`;
}
