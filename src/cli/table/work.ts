import type { Command } from '../command.ts';
import { LIMIT, MODEL, OUTPUT, REMOTE, TIMEOUT } from './options.ts';

/** Commands that have a gateway do work. Each loads when it runs, and none loads the gateway. */
export const WORK_COMMANDS: readonly Command[] = [
  {
    name: 'models',
    operands: ['[MODEL]'],
    options: REMOTE,
    summary: 'the models that the key can use, with their prices',
    details:
      'Lists the models that the key can use, what each is for and what it costs; with MODEL more about that one.',
    isRemote: true,
    run: async (invocation) => (await import('../work/models.ts')).listModels(invocation),
  },
  {
    name: 'run',
    operands: ['MODEL', '[FIELD=VALUE...]'],
    options: {
      ...OUTPUT,
      detach: { summary: 'print the id of the job and do not wait' },
      endpoint: { value: 'ENDPOINT', summary: 'which of the model’s endpoints; the first unless set' },
      key: { value: 'TEXT', summary: 'the Idempotency-Key; a random one unless set' },
      ...TIMEOUT,
      ...REMOTE,
    },
    summary: 'call any model: tollgate run sandbox/image prompt="a toll gate" -o gate.png',
    details: `Sends the fields to the route of the model. A picture, clip or piece of music is a job: it is waited for and saved
to the file of -o, else to one named after the job; further results get -2, -3 before the ending. Speech is saved the
same way. Chat and embeddings are printed as JSON.

name=value is a number, true or false where it looks like one, else text; name:=JSON is exactly that; name=@file is the
content of a file. Ctrl-C ends the waiting and leaves the job running.`,
    isRemote: true,
    run: async (invocation) => (await import('../work/run.ts')).runCommand(invocation),
  },
  {
    name: 'chat',
    operands: ['[TEXT...]'],
    options: { ...MODEL, system: { value: 'TEXT', summary: 'what goes before the conversation' }, ...REMOTE },
    summary: 'ask a chat model, or talk with it at a terminal',
    details: `Asks TEXT, or what standard input holds, and prints the answer while it comes. At a terminal without TEXT it is a
conversation: an empty line ends it. With --json the answer is printed whole.`,
    isRemote: true,
    run: async (invocation) => (await import('../work/chat.ts')).chatCommand(invocation),
  },
  {
    name: 'speak',
    operands: ['[TEXT...]'],
    options: {
      ...OUTPUT,
      ...MODEL,
      voice: { value: 'VOICE', summary: 'one that the model has' },
      format: { value: 'FORMAT', summary: 'such as mp3, wav; for transcribe text, json, verbose_json, srt, vtt' },
      ...REMOTE,
    },
    summary: 'read a text aloud into a file',
    details:
      'Reads TEXT, or what standard input holds, aloud into the file of -o, else into speech.mp3 or what the format ends with.',
    isRemote: true,
    run: async (invocation) => (await import('../work/sound.ts')).speakCommand(invocation),
  },
  {
    name: 'transcribe',
    operands: ['FILE'],
    options: {
      ...MODEL,
      language: { value: 'CODE', summary: 'the language that is spoken, such as en' },
      format: { value: 'FORMAT', summary: 'text, json, verbose_json, srt or vtt' },
      ...REMOTE,
    },
    summary: 'turn a recording into text or subtitles',
    details: 'Prints what is said in FILE: the text alone, or in the format that is asked for.',
    isRemote: true,
    run: async (invocation) => (await import('../work/sound.ts')).transcribeCommand(invocation),
  },
  {
    name: 'jobs',
    operands: ['[JOB]'],
    options: { status: { value: 'STATUS', summary: 'such as running or failed' }, ...LIMIT, ...REMOTE },
    summary: 'the jobs of the account, newest first, or one of them',
    details: 'Lists the jobs of the account, newest first; with JOB tells about that one.',
    isRemote: true,
    run: async (invocation) => (await import('../work/jobs.ts')).listJobs(invocation),
  },
  {
    name: 'wait',
    operands: ['JOB'],
    options: { ...OUTPUT, ...TIMEOUT, ...REMOTE },
    summary: 'wait until a job has ended; with -o fetch what it has made',
    details: `Waits until JOB has ended. A job that failed is an exit code. Ctrl-C and --timeout end the waiting, not the job.`,
    isRemote: true,
    run: async (invocation) => (await import('../work/jobs.ts')).waitCommand(invocation),
  },
  {
    name: 'download',
    operands: ['JOB'],
    options: { ...OUTPUT, ...REMOTE },
    summary: 'fetch what a job has made',
    details: 'Saves the results of JOB to the file of -o, else to one named after the job.',
    isRemote: true,
    run: async (invocation) => (await import('../work/jobs.ts')).downloadCommand(invocation),
  },
];
