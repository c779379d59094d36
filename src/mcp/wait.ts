import { isTerminal, type Job } from '../jobs/index.ts';
import { MCP_PROGRESS_EVERY_SECONDS, MCP_SILENT_WAIT_SECONDS, MCP_WAIT_SECONDS_MAX } from '../limits.ts';
import type { McpDeps } from './deps.ts';
import type { ToolCall } from './tool.ts';

/**
 * How long a call may wait. Clients give a silent request up after 60 seconds and lose what it would have answered; one
 * that hears of progress waits on.
 */
export function secondsToWait(wait: unknown, otherwise: boolean, { report }: ToolCall): number {
  const most = report === undefined ? MCP_SILENT_WAIT_SECONDS : MCP_WAIT_SECONDS_MAX;
  if (typeof wait === 'number') return Math.min(wait, most);
  return (wait ?? otherwise) === true ? most : 0;
}

/**
 * The job once it has ended, or as it is when the time is over or the caller has left: the job goes on by itself. Tells a
 * client that asked for progress how far it is, and first of all the job's id.
 */
export async function waitForEnd(deps: McpDeps, call: ToolCall, job: Job, seconds: number): Promise<Job> {
  // The rest is the client's wish and no slow work of this process.
  call.trace.streamedAtMs ??= performance.now();
  let current = job;
  for (let left = seconds; left > 0 && !isTerminal(current) && !call.signal.aborted; ) {
    await call.report?.(current.progress, `${current.id} is ${current.status}`);
    const step = Math.min(left, MCP_PROGRESS_EVERY_SECONDS);
    current = await deps.jobWatches.wait(current, step * 1000, call.signal);
    left -= step;
  }
  return current;
}
