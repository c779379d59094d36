import type { z } from 'zod';
import type { Endpoint } from '../configuration/index.ts';
import { createJob, type Job } from '../jobs/index.ts';
import type { JsonObject } from '../json.ts';
import { parseWith } from '../parse.ts';
import {
  fingerprint,
  imageSchemas,
  type MediaRequest,
  type MediaSource,
  soundSchema,
  toImageRequest,
  toSoundRequest,
  toVideoRequest,
  videoSchema,
} from '../schemas/index.ts';
import type { Scope } from '../scopes.ts';
import { modelOf } from './default-model.ts';
import type { McpDeps } from './deps.ts';
import { resultOfJob } from './job-result.ts';
import { MAKES, type Tool, type ToolCall } from './tool.ts';
import { secondsToWait, waitForEnd } from './wait.ts';

/** A tool that stands for a create call of `/v1`. */
export interface Maker<Input extends z.ZodObject = z.ZodObject, Place extends Endpoint = Endpoint> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly endpoint: Place;
  readonly scope: Scope;
  /** The body of the create call; its model is filled in, and `wait` and what is undefined are left out. */
  body(deps: McpDeps, call: ToolCall, args: z.output<Input>): Promise<Record<string, unknown>>;
}

/** The body that the create call is given, with the model that is meant. */
export async function bodyOf(
  deps: McpDeps,
  call: ToolCall,
  maker: Pick<Maker, 'endpoint' | 'body'>,
  args: Record<string, unknown>,
): Promise<JsonObject & { readonly model: string }> {
  const named = typeof args.model === 'string' ? args.model : undefined;
  const model = modelOf(deps, call, maker.endpoint, named);
  const fields = Object.entries(await maker.body(deps, call, args)).filter(
    ([name, value]) => name !== 'wait' && value !== undefined,
  );
  return { ...(Object.fromEntries(fields) as JsonObject), model };
}

/** What is answered with a job on `/v1`. */
type JobEndpoint = 'images' | 'image_edits' | 'videos' | 'audio_music';

/** A tool whose work is a job: made or joined, waited for within bounds, and answered with its results or its id. */
export function jobTool<Input extends z.ZodObject>(maker: Maker<Input, JobEndpoint>): Tool<Input> {
  return {
    ...maker,
    annotations: MAKES,
    logged: maker.endpoint,
    run: async (deps, call, args) => {
      const media = mediaRequestOf(maker.endpoint, await bodyOf(deps, call, maker, args));
      const { job, isJoined } = await makeOrJoin(deps, call, maker, args as JsonObject, media);
      const ended = await waitForEnd(deps, call, job, secondsToWait(args.wait, true, call));
      return resultOfJob(deps, call, ended, { isJoined });
    },
  };
}

function mediaRequestOf(endpoint: JobEndpoint, body: JsonObject): MediaRequest<MediaSource> {
  switch (endpoint) {
    case 'images':
    case 'image_edits':
      return toImageRequest(parseWith(imageSchemas[endpoint], body), body, endpoint);
    case 'videos':
      return toVideoRequest(parseWith(videoSchema, body), body);
    case 'audio_music':
      return toSoundRequest(parseWith(soundSchema, body), body);
  }
}

/**
 * Clients repeat a call whose answer they lost, and the protocol has no idempotency key: an equal call of the same
 * credential is given the job that is open and younger than `MCP_JOIN_MS`.
 */
async function makeOrJoin(
  deps: McpDeps,
  call: ToolCall,
  { name, endpoint }: Pick<Maker, 'name' | 'endpoint'>,
  args: JsonObject,
  media: MediaRequest<MediaSource>,
): Promise<{ readonly job: Job; readonly isJoined: boolean }> {
  const { wait: _, ...asked } = args;
  const digest = fingerprint('MCP', name, { json: asked });
  const { job, isReplay, reservationId } = await createJob(deps, call.caller, {
    endpoint,
    requestId: call.requestId,
    signal: call.signal,
    traceparent: call.trace.span?.traceparent,
    request: media,
    key: {
      // A tab is no character of an Idempotency-Key, so that no caller's own is ever the same.
      key: `mcp\t${digest}`,
      fingerprint: Buffer.from(digest, 'hex'),
      derivedOf: 'tool call',
    },
  });
  call.trace.jobId = job.id;
  call.trace.reservationId = reservationId;
  return { job, isJoined: isReplay };
}
