import { creditsToNumber } from '../credits.ts';
import { getAssets, isTerminal, JOB_FAULTS, type Job, type LinkedAsset } from '../jobs/index.ts';
import { MCP_LINK_MS } from '../limits.ts';
import { adviceFor } from './advice.ts';
import { inlineBlock, linkBlock, linkLine } from './blocks.ts';
import type { McpDeps } from './deps.ts';
import { type ToolCall, type ToolResult, textBlock } from './tool.ts';

interface Told {
  /** An equal call made it, and this one found it. */
  readonly isJoined?: boolean;
}

/** A job as a tool answers it: results with links, why it failed, or how to ask after it. */
export async function resultOfJob(deps: McpDeps, call: ToolCall, job: Job, told: Told = {}): Promise<ToolResult> {
  if (!isTerminal(job)) return runningResult(job, told);
  if (job.status !== 'succeeded') return failedResult(job);
  const assets = await getAssets(deps, call.caller.accountId, job.id, MCP_LINK_MS);
  if (assets.length === 0) return { content: [textBlock(`${job.id} succeeded; its results are not kept any more.`)] };
  const inline = await Promise.all(assets.map((asset) => inlineBlock(deps, asset)));
  const links = assets.map((asset) => linkBlock(asset, `${job.id}-${asset.ordinal}`));
  return { content: [textBlock(resultWords(job, assets, told)), ...inline.flat(), ...links] };
}

function resultWords(job: Job, assets: readonly LinkedAsset[], { isJoined }: Told): string {
  const joined = isJoined === true ? ' It was made by an equal call, and is charged once.' : '';
  const head = `${job.id} succeeded with ${job.model} for ${creditsOf(job)} credits.${joined}`;
  return [head, ...assets.map((asset) => linkLine(asset, `${asset.kind} ${asset.id}`))].join('\n');
}

function creditsOf({ charged }: Job): number {
  return charged === null ? 0 : creditsToNumber(charged);
}

function runningResult({ id, status, progress }: Job, { isJoined }: Told): ToolResult {
  const joined = isJoined === true ? ' It was made by an equal call, and is charged once.' : '';
  const words = `${id} is ${status}, ${progress} % done.${joined} Call get_job with this job_id and wait for its result.`;
  return { content: [textBlock(words)], structuredContent: { job_id: id, status, progress } };
}

function failedResult({ id, status, errorCode }: Job): ToolResult {
  const why = errorCode === null ? `It ended as ${status}.` : `${JOB_FAULTS[errorCode]} (${errorCode})`;
  const advice = errorCode === 'content_rejected' ? adviceFor(errorCode) : '';
  return { content: [textBlock(`${id} failed and cost nothing. ${why} ${advice}`.trim())], isError: true };
}
