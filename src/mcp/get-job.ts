import { z } from 'zod';
import { ERROR_TABLE } from '../errors.ts';
import { isIdOf } from '../ids.ts';
import { getAssets, getJob as readJob } from '../jobs/index.ts';
import { MCP_LINK_MS } from '../limits.ts';
import { getTranscription, type TranscriptionRecord } from '../transcriptions/index.ts';
import { waitField } from './clip-tools.ts';
import type { McpDeps } from './deps.ts';
import { resultOfJob } from './job-result.ts';
import { READS, type Tool, type ToolCall, type ToolResult, textBlock } from './tool.ts';
import { transcriptHead, transcriptOf } from './transcribe.ts';
import { secondsToWait, waitForEnd } from './wait.ts';

const question = z.object({
  job_id: z.string().min(1).describe('Of an earlier answer: job_…, or req_… of a transcription.'),
  wait: waitField,
});

export const getJob: Tool<typeof question> = {
  name: 'get_job',
  title: 'A job and its results',
  description:
    'How a job is doing, and what it has made, with fresh links. With `wait` it answers when the job ends. Free.',
  input: question,
  annotations: READS,
  scope: 'user:jobs',
  logged: undefined,
  run: async (deps, call, { job_id, wait }) => {
    const { accountId } = call.caller;
    if (isIdOf('req', job_id)) return transcriptionResult(deps, await getTranscription(deps, accountId, job_id));
    const job = await readJob(deps, accountId, job_id);
    return jobResult(deps, call, await waitForEnd(deps, call, job, secondsToWait(wait, false, call)));
  },
};

async function jobResult(
  deps: McpDeps,
  call: ToolCall,
  job: Parameters<McpDeps['views']['job']>[0],
): Promise<ToolResult> {
  const result = await resultOfJob(deps, call, job);
  const assets = job.status === 'succeeded' ? await getAssets(deps, call.caller.accountId, job.id, MCP_LINK_MS) : [];
  return { ...result, structuredContent: { ...deps.views.job(job), assets: assets.map(deps.views.asset) } };
}

function transcriptionResult({ views }: McpDeps, record: TranscriptionRecord): ToolResult {
  const { id, status, result, errorCode } = record;
  const structuredContent = { ...views.transcription(record) };
  if (result !== null) {
    return {
      content: [textBlock(transcriptHead(result)), textBlock(transcriptOf(result, undefined))],
      structuredContent,
    };
  }
  const isOpen = status === 'pending' || status === 'processing';
  const why = errorCode === null ? '' : ` ${ERROR_TABLE[errorCode][1]}`;
  const words = isOpen
    ? `Transcription ${id} is ${status}. Call get_job again.`
    : `Transcription ${id} is ${status}.${why}`;
  return { content: [textBlock(words)], structuredContent, ...(isOpen ? {} : { isError: true }) };
}
