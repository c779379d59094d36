import { randomUUID } from 'node:crypto';
import { CommandError, Interrupted, type Invocation, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { connect } from '../gateway/connect.ts';
import type { Connection } from '../gateway/connection.ts';
import { print } from '../output.ts';
import { requestFields } from './field-values.ts';
import { type Job, waitForJob } from './job.ts';
import { finishJob } from './jobs.ts';
import { type Model, modelById } from './models.ts';
import { saveSpeech } from './sound.ts';

/** Endpoints of a model card, and where their requests go. */
const JOB_PATHS: Readonly<Record<string, string>> = {
  images: '/v1/images/generations',
  image_edits: '/v1/images/edits',
  videos: '/v1/videos',
  audio_music: '/v1/audio/music',
};
const CALL_PATHS: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  embeddings: '/v1/embeddings',
  transcriptions: '/v1/audio/transcriptions',
};

/** Calls any model with the fields of its route; what a job makes is waited for and saved. */
export async function runCommand(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const [id = '', ...words] = operands;
  const fields = requestFields(words);
  const connection = connect(invocation);
  const endpoint = endpointFor(await modelById(connection, id), fields, options.endpoint);
  if (endpoint === 'audio_speech') return saveSpeech(connection, { model: id, ...speechOf(fields) }, options);
  const path = JOB_PATHS[endpoint];
  if (path !== undefined) return runJob(connection, path, { model: id, ...fields }, invocation);
  const json = { model: id, ...(endpoint === 'chat' ? questionOf(fields) : fields) };
  console.log(await connection.text('POST', CALL_PATHS[endpoint] ?? '', { json }));
  return EXIT.done;
}

const MAYBE_MADE = 'The job may have been made: "tollgate jobs" lists it.';

async function runJob(connection: Connection, path: string, json: object, invocation: Invocation): Promise<number> {
  const { options } = invocation;
  // A key of its own: a job whose answer was lost is found by it, and is never made twice.
  const headers = { 'idempotency-key': options.key ?? randomUUID() };
  const job = await connection.json<Job>('POST', path, { json, headers }).catch((error: unknown) => {
    throw error instanceof Interrupted ? new Interrupted(MAYBE_MADE) : error;
  });
  if (options.detach !== undefined) {
    print(options, job, () => job.id);
    return EXIT.done;
  }
  // A bar names the job too; without one, this line is what finds it after a kill.
  if (options.json === undefined && !process.stderr.isTTY) process.stderr.write(`${job.id} is made.\n`);
  return finishJob(connection, await waitForJob(connection, job.id, options), invocation);
}

function endpointFor(model: Model, fields: Record<string, unknown>, wanted: string | undefined): string {
  const served = model.endpoints.filter((each) => each in JOB_PATHS || each in CALL_PATHS || each === 'audio_speech');
  if (wanted !== undefined) {
    if (served.includes(wanted)) return wanted;
    throw new UsageError(`${model.id} has no endpoint "${wanted}". It has: ${served.join(', ')}.`);
  }
  if ('image' in fields && served.includes('image_edits')) return 'image_edits';
  const [first] = served;
  if (first !== undefined) return first;
  throw new CommandError(`${model.id} serves nothing that this command calls.`, { exitCode: EXIT.refused });
}

/** `prompt` is the question of a chat and the text of speech, so that one word goes everywhere. */
function questionOf({ prompt, ...rest }: Record<string, unknown>): object {
  return prompt === undefined || 'messages' in rest ? rest : { messages: [{ role: 'user', content: prompt }], ...rest };
}

function speechOf(fields: Record<string, unknown>): object {
  const { prompt, ...rest } = fields;
  const hasText = 'input' in rest || 'text' in rest || 'voice_description' in rest;
  return prompt === undefined || hasText ? fields : { input: prompt, ...rest };
}
