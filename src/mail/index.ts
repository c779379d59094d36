/** Mail: messages over SMTP, in the background. Hides the protocol, the queue, and that a mail server may be down. */
export { Mailer } from './mailer.ts';
export { type Message, messageOf } from './message.ts';
