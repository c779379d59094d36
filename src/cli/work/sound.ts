import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { FormData } from 'undici';
import { CommandError, type Invocation, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { reasonOf } from '../finding.ts';
import { connect } from '../gateway/connect.ts';
import type { Connection } from '../gateway/connection.ts';
import { endingOf, saveStream } from '../gateway/files.ts';
import { print } from '../output.ts';
import { modelFor } from './models.ts';

/** Reads a text aloud into a file. */
export async function speakCommand(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const connection = connect(invocation);
  const input = operands.length > 0 ? operands.join(' ') : process.stdin.isTTY ? '' : await readAll(process.stdin);
  if (input.trim() === '') throw new UsageError('tollgate speak needs a text, as words or on standard input.');
  const model = await modelFor(connection, options, 'audio_speech');
  const { voice, format } = options;
  const body = { model, input, ...(voice !== undefined && { voice }), ...(format && { response_format: format }) };
  return saveSpeech(connection, body, options);
}

/** Asks for speech and saves the sound while it comes. */
export async function saveSpeech(
  connection: Connection,
  body: Readonly<Record<string, unknown>>,
  options: Invocation['options'],
): Promise<number> {
  const answer = await connection.open('POST', '/v1/audio/speech', { json: body });
  const type = String(answer.headers['content-type'] ?? '');
  if (!type.startsWith('audio/')) {
    console.log(await answer.body.text());
    return EXIT.done;
  }
  const path = options.output ?? `speech.${endingOf(type)}`;
  await saveStream(answer.body, path);
  if (path === '-') return EXIT.done;
  const charged = answer.headers['x-credits-charged'];
  const credits = charged === undefined ? undefined : Number(charged);
  const paid = credits === undefined ? '' : `  ${credits} credits`;
  print(options, { file: path, mime_type: type, ...(credits !== undefined && { credits }) }, () => path + paid);
  return EXIT.done;
}

const SUBTITLES = ['srt', 'vtt'];

/** Turns a recording into text, or into subtitles. */
export async function transcribeCommand(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const connection = connect(invocation);
  const model = await modelFor(connection, options, 'transcriptions');
  const { language, format } = options;
  const fields = { model, ...(language !== undefined && { language }), ...(format && { response_format: format }) };
  return transcribeFile(connection, operands[0] ?? '', fields, options);
}

async function transcribeFile(
  connection: Connection,
  path: string,
  fields: Readonly<Record<string, string>>,
  options: Invocation['options'],
): Promise<number> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', await openFile(path), basename(path));
  // Subtitles are a shape of the facade alone.
  const root = SUBTITLES.includes(fields.response_format ?? '') ? '/openai/v1' : '/v1';
  const answer = await connection.text('POST', `${root}/audio/transcriptions`, { body: form });
  const isWhole = options.json !== undefined || fields.response_format !== undefined;
  console.log(isWhole ? answer.trimEnd() : (JSON.parse(answer) as { text: string }).text);
  return EXIT.done;
}

async function openFile(path: string): Promise<Blob> {
  try {
    return await openAsBlob(path);
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
}
