import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Busboy } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { ApiError, type ErrorCode } from '../../errors.ts';
import { FORM_FIELD_BYTES_MAX, FORM_HELD_BYTES_MAX, FORM_PARTS_MAX } from '../../limits.ts';
import { countStreamedBytes } from '../../memory.ts';
import { atField } from '../../parse.ts';
import { isForm } from './body.ts';
import { collectBody } from './collect-body.ts';
import { partsSeen } from './private-fields.ts';

export interface FormRules<File> {
  readonly bytesMax: number;
  readonly tooLarge: ErrorCode;
  /** Takes a file as it comes; what it throws ends the reading. */
  take(name: string, fileName: string, body: AsyncIterable<Buffer>): Promise<File>;
}

export type FormPart<File> = { readonly name: string; readonly value: string } | FormFile<File>;

interface FormFile<File> {
  readonly name: string;
  readonly file: File;
}

/** The values of a form, in the order in which they were sent. */
export function valuesOf(parts: readonly FormPart<unknown>[]): (readonly [name: string, value: string])[] {
  return parts.flatMap((part) => ('value' in part ? [[part.name, part.value] as const] : []));
}

/** Its files, in the order in which they were sent. */
export function filesOf<File>(parts: readonly FormPart<File>[]): FormFile<File>[] {
  return parts.flatMap((part) => ('file' in part ? [part] : []));
}

type Parser = InstanceType<typeof Busboy>;

/** The name and value of a part are held; a file is only passed on. */
const FIELD_NAME_BYTES_MAX = 200;
const BOUNDARY_CHARS_MAX = 70;

/**
 * Reads a form while it arrives: its parts, in the order in which they were sent. Throws `unsupported_content_type`,
 * `invalid_multipart`, `form_field_too_large`, the route's own code for a body over its cap, or what `take` throws.
 */
export async function readForm<File>(request: FastifyRequest, rules: FormRules<File>): Promise<FormPart<File>[]> {
  if (!isForm(request))
    throw new ApiError('unsupported_content_type', { message: 'This route takes multipart/form-data.' });
  const reading = new FormReading(request, rules);
  try {
    return await reading.run();
  } catch (error) {
    reading.giveUp(error);
    throw error;
  }
}

class FormReading<File> {
  readonly #request: FastifyRequest;
  readonly #rules: FormRules<File>;
  readonly #parts: (FormPart<File> | Promise<FormFile<File>>)[] = [];
  readonly #failed = Promise.withResolvers<never>();
  readonly #files = new Set<Readable>();
  #hasFailed = false;

  constructor(request: FastifyRequest, rules: FormRules<File>) {
    this.#request = request;
    this.#rules = rules;
    this.#failed.promise.catch(() => undefined);
  }

  /** Destroys the files' streams as well: their readers would wait for the rest for ever. */
  giveUp(error: unknown): void {
    this.#fail(error);
    for (const stream of this.#files) stream.destroy(error instanceof Error ? error : undefined);
  }

  async run(): Promise<FormPart<File>[]> {
    const parser = this.#parser();
    const ended = new Promise<void>((resolve) => {
      parser.on('finish', resolve);
    });
    const fed = this.#feed(parser);
    const stuck = fed.then(() => this.#quiet()).then(() => this.#failParsing(new Error('the parser does not end')));
    await Promise.race([Promise.all([fed, ended]), stuck.then(() => this.#failed.promise), this.#failed.promise]);
    // The parser skips a part whose headers make no sense to it.
    if (partsSeen(parser) > this.#parts.length) throw new ApiError('invalid_multipart');
    return this.#allParts();
  }

  #allParts(): Promise<FormPart<File>[]> {
    return Promise.all(this.#parts.map(async (part) => part));
  }

  /** Resolves when all that was fed has come out as parts, and these have been taken. */
  async #quiet(): Promise<void> {
    for (let known = -1; known < this.#parts.length; ) {
      known = this.#parts.length;
      await this.#allParts();
      // What a stream has left to say it says before these.
      await setImmediate();
      await setImmediate();
    }
  }

  #parser(): Parser {
    const contentType = this.#request.headers['content-type'] ?? '';
    const boundary = /boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(contentType);
    const name = boundary?.[1] ?? boundary?.[2] ?? '';
    if (name === '' || name.length > BOUNDARY_CHARS_MAX) throw new ApiError('invalid_multipart');
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: {
        fieldNameSize: FIELD_NAME_BYTES_MAX,
        // One more than is allowed, so that the limit itself can be told from what is above it.
        fieldSize: FORM_FIELD_BYTES_MAX + 1,
        parts: FORM_PARTS_MAX + 1,
        headerPairs: 20,
      },
    });
    parser.on('field', (field, value) => this.#field(field, value));
    // The library's types do not say that a part may be without a name.
    parser.on('file', (field: string | undefined, stream, fileName) => {
      this.#files.add(stream);
      stream.on('close', () => this.#files.delete(stream));
      // Reported by the reader of the stream, or by the parser itself.
      stream.on('error', () => undefined);
      if (field === undefined) return this.#failParsing(new Error(NO_NAME));
      const file = this.#take(field, fileName, stream);
      file.catch((error: unknown) => this.#fail(error));
      this.#add(file);
    });
    parser.on('partsLimit', () => this.#fail(new ApiError('invalid_multipart', { message: TOO_MANY_PARTS })));
    parser.on('error', (error) => this.#failParsing(error));
    return parser;
  }

  async #take(name: string, fileName: string, body: AsyncIterable<Buffer>): Promise<FormFile<File>> {
    try {
      return { name, file: await this.#rules.take(name, fileName, body) };
    } catch (error) {
      throw atField(error, name.replace(/\[\]$/, ''));
    }
  }

  #field(name: string | undefined, value: string): void {
    if (Buffer.byteLength(value) > FORM_FIELD_BYTES_MAX) {
      this.#fail(atField(new ApiError('form_field_too_large'), name ?? ''));
    }
    if (name === undefined) this.#failParsing(new Error(NO_NAME));
    else this.#add({ name, value });
  }

  #add(part: FormPart<File> | Promise<FormFile<File>>): void {
    if (this.#parts.push(part) > FORM_PARTS_MAX) {
      this.#fail(new ApiError('invalid_multipart', { message: TOO_MANY_PARTS }));
    }
  }

  async #feed(parser: Parser): Promise<void> {
    const { bytesMax, tooLarge } = this.#rules;
    const announced = Number(this.#request.headers['content-length']);
    if (announced <= FORM_HELD_BYTES_MAX) {
      const whole = await collectBody(this.#request.raw, { bytesMax, tooLarge });
      if (!this.#hasFailed) parser.end(whole);
      return;
    }
    let bytes = 0;
    // The connection stays when the loop ends early: the request still has to be answered.
    const pieces: AsyncIterable<Buffer> = this.#request.raw.iterator({ destroyOnReturn: false });
    for await (const piece of pieces) {
      bytes += piece.length;
      countStreamedBytes(piece.length);
      if (bytes > bytesMax) {
        // Too large and refused for something else already: what is still to come is not read.
        if (this.#hasFailed) this.#request.raw.destroy();
        throw new ApiError(tooLarge);
      }
      // After a refusal the rest is thrown away, because the next request on the connection is behind it.
      if (this.#hasFailed) continue;
      // A file that is taken slowly holds the sender back.
      if (!parser.write(piece)) await Promise.race([drained(parser), this.#failed.promise]).catch(() => undefined);
    }
    if (!this.#hasFailed) parser.end();
  }

  #failParsing(error: unknown): void {
    this.#fail(new ApiError('invalid_multipart', { cause: error }));
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#failed.reject(error);
  }
}

const NO_NAME = 'a part without a name';
const TOO_MANY_PARTS = `A form may have at most ${FORM_PARTS_MAX} parts.`;

function drained(parser: Parser): Promise<void> {
  return new Promise((resolve) => parser.once('drain', () => resolve()));
}
