import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Watch } from './ask.ts';
import { POLL_FIRST_MS, POLL_MAX_MS, PROGRESS_EVERY_MS, RECOVERY_MS_MAX, SILENCE_MS_MAX } from './settings.ts';

/** Whom a start tells what it is doing, and who may call it off. */
export interface Report {
  progress(message: string): void;
  launched?(): void;
  readonly signal: AbortSignal;
}

export type Outcome =
  | { readonly state: 'ready'; readonly watch: Watch }
  | { readonly state: 'gone' }
  | { readonly state: 'stuck'; readonly reason: string };

/** Asks until the server answers, has gone, or has been silent or busy for too long. Throws when called off. */
export async function waitForAnswer(socketFolder: string, isThere: () => boolean, report: Report): Promise<Outcome> {
  const deadline = new AnswerDeadline(report);
  for (let delayMs = POLL_FIRST_MS; ; delayMs = Math.min(delayMs * 1.5, POLL_MAX_MS)) {
    report.signal.throwIfAborted();
    // Looked at before asking: what ended in between may have been replaced by one that answers.
    const wasThere = isThere();
    const answer = await ask(socketFolder);
    if (answer.state === 'ready') return answer;
    if (answer.state === 'broken') return { state: 'stuck', reason: answer.reason };
    if (answer.state === 'silent' && !wasThere) return { state: 'gone' };
    const reason = deadline.reasonToGiveUp(answer.state === 'busy' ? answer.reason : undefined);
    if (reason !== undefined) return { state: 'stuck', reason };
    await sleep(delayMs, undefined, { signal: report.signal });
  }
}

/** The deadlines of one wait for the server: of silence, and of recovery. Reports progress meanwhile. */
class AnswerDeadline {
  readonly #report: Report;
  readonly #begunMs = performance.now();
  #heardMs = this.#begunMs;
  #toldMs = this.#begunMs;

  constructor(report: Report) {
    this.#report = report;
  }

  reasonToGiveUp(report: string | undefined): string | undefined {
    const nowMs = performance.now();
    if (report !== undefined) this.#heardMs = nowMs;
    if (nowMs - this.#heardMs > SILENCE_MS_MAX) return `it has not answered for ${SILENCE_MS_MAX / 1000} seconds`;
    if (nowMs - this.#begunMs > RECOVERY_MS_MAX) return `it has said for too long: ${report ?? 'nothing'}`;
    if (nowMs - this.#toldMs > PROGRESS_EVERY_MS) {
      this.#toldMs = nowMs;
      this.#report.progress(`Waiting for PostgreSQL: ${report ?? 'it does not answer yet'}`);
    }
    return undefined;
  }
}
