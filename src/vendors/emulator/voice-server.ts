import type { Recorded } from './recording-server.ts';
import { type Answer, ScriptedServer } from './scripted-server.ts';

/** A vendor of speech or transcripts, with an account that may be empty or busy, and refusals that have names. */
export abstract class VoiceServer<ErrorName extends string> extends ScriptedServer {
  isBroke = false;
  isBusy = false;
  protected readonly apiKey: string;
  /** Stands in what no caller may read. */
  protected readonly marker: string;

  constructor(apiKey: string, marker: string) {
    super((recorded) => this.answer(recorded));
    this.apiKey = apiKey;
    this.marker = marker;
  }

  /** The next requests are refused in this way. */
  refuse(...errors: readonly ErrorName[]): void {
    for (const error of errors) this.script({ kind: 'instead', ...this.refused(error) });
  }

  protected abstract answer(recorded: Recorded): Promise<Answer>;
  protected abstract refused(error: ErrorName): Answer;
}
