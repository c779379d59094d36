import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface Mail {
  readonly from: string;
  readonly to: string;
  readonly headers: string;
  readonly text: string;
  readonly html: string;
  /** The path of the one-time link in it. */
  readonly link: string;
  /** Over an encrypted connection. */
  readonly secure: boolean;
  /** Who sent it, where the server asks for a password. */
  readonly user: string | undefined;
}

/** A real mail server on a loopback port that keeps what it is sent. */
export class MailServer {
  readonly mails: Mail[] = [];
  readonly #server: SMTPServer;
  readonly #waiting: (() => void)[] = [];

  private constructor(options: SMTPServerOptions) {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: options.secure === true || options.key !== undefined ? [] : ['STARTTLS'],
      ...options,
      onData: (stream, session, callback) => {
        void text(stream).then((source) => {
          const { mailFrom, rcptTo } = session.envelope;
          const from = mailFrom === false ? '' : mailFrom.address;
          this.mails.push({
            ...parsed(source),
            from,
            to: rcptTo.map(({ address }) => address).join(),
            secure: session.secure,
            user: session.user === undefined ? undefined : String(session.user),
          });
          for (const wake of this.#waiting.splice(0)) wake();
          callback();
        });
      },
    });
  }

  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server.server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  /** The newest mail to this address, as soon as there are so many. */
  async to(address: string, count = 1): Promise<Mail> {
    for (;;) {
      const found = this.mails.filter(({ to }) => to === address);
      const newest = found[count - 1];
      if (newest !== undefined) return newest;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(resolve));
  }
}

function parsed(source: string): Pick<Mail, 'headers' | 'text' | 'html' | 'link'> {
  const [headers = ''] = source.split('\r\n\r\n', 1);
  const boundary = /boundary="([^"]+)"/.exec(headers)?.[1];
  assert.ok(boundary, headers);
  const parts = source.split(`--${boundary}`).slice(1, -1).map(decoded);
  const [plain = '', html = ''] = parts;
  const link = /https?:\/\/[^\s/]+(\/link\/[\w-]+)/.exec(plain)?.[1] ?? '';
  return { headers, text: plain, html, link };
}

function decoded(part: string): string {
  const at = part.indexOf('\r\n\r\n');
  const body = part.slice(at + 4);
  const [, encoding] = /Content-Transfer-Encoding: (\S+)/i.exec(part.slice(0, at)) ?? [];
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
