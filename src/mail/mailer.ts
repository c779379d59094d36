import type { MailSettings } from '../config.ts';
import { MAIL_DRAIN_MS, MAIL_TIMEOUT_MS, MAILS_AT_ONCE_MAX, MAILS_WAITING_MAX } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { Message } from './message.ts';

/** Undefined when there is nothing to send after all. */
type Compose = () => Message | undefined | Promise<Message | undefined>;

interface QueuedMail {
  readonly kind: string;
  readonly compose: Compose;
}

interface Sender {
  sendMail(mail: object): Promise<unknown>;
}

/**
 * A bounded queue in front of a mail server. Posting takes no time and never fails, so that neither the mail server's state
 * nor the recipient shows in the answer to a request. Messages hold secrets: what is logged is their kind and a code.
 */
export class Mailer {
  readonly #sender: Sender;
  readonly #from: string;
  readonly #log: Logger;
  readonly #timeoutMs: number;
  readonly #waiting: QueuedMail[] = [];
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  private constructor(sender: Sender, from: string, log: Logger, timeoutMs: number) {
    this.#sender = sender;
    this.#from = from;
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  static async open({ url, from }: MailSettings, log: Logger, timeoutMs: number = MAIL_TIMEOUT_MS): Promise<Mailer> {
    const { createTransport } = await import('nodemailer');
    return new Mailer(createTransport(transportOptions(new URL(url.reveal()), timeoutMs)), from, log, timeoutMs);
  }

  /** `compose` runs in the background too. */
  post(kind: string, compose: Compose): void {
    if (this.#isClosed || this.#waiting.length >= MAILS_WAITING_MAX) {
      this.#log.warn({ mail: kind, waiting: this.#waiting.length }, 'a mail was not taken: too many wait to be sent');
      return;
    }
    this.#waiting.push({ kind, compose });
    this.#next();
  }

  /** Sends what waits, for a short while; the rest is dropped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const isDrained = await within(MAIL_DRAIN_MS, this.#drained()).catch(() => false);
    if (isDrained === false)
      this.#log.warn({ waiting: this.#waiting.length }, 'mails that could not be sent were dropped');
    this.#waiting.length = 0;
  }

  async #drained(): Promise<true> {
    while (this.#running.size > 0) await Promise.all(this.#running);
    return true;
  }

  #next(): void {
    while (this.#running.size < MAILS_AT_ONCE_MAX) {
      const mail = this.#waiting.shift();
      if (mail === undefined) return;
      const run = this.#send(mail).finally(() => {
        this.#running.delete(run);
        this.#next();
      });
      this.#running.add(run);
    }
  }

  async #send({ kind, compose }: QueuedMail): Promise<void> {
    try {
      const message = await compose();
      if (message === undefined) return;
      await within(this.#timeoutMs, this.#sender.sendMail({ ...message, from: this.#from }));
      this.#log.debug({ mail: kind }, 'a mail was sent');
    } catch (error) {
      this.#log.warn({ mail: kind, code: codeOf(error) }, 'a mail was not sent');
    }
  }
}

/** With credentials the connection must be encrypted before they are sent; without, it is where the server offers it. */
function transportOptions({ protocol, hostname, port, username, password }: URL, timeoutMs: number) {
  const secure = protocol === 'smtps:';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    ...(username === ''
      ? {}
      : { requireTLS: !secure, auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new MailTimeout()), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

class MailTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The protocol's or the system's code; its text may quote the recipient. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code, responseCode } = error as Error & { readonly code?: string; readonly responseCode?: number };
  return [code ?? error.name, responseCode].filter((part) => part !== undefined).join(' ');
}
