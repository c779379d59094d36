import type { Command } from '../command.ts';
import { REMOTE } from './options.ts';

/** Commands about the account of a key, and about keeping that key. */
export const ACCOUNT_COMMANDS: readonly Command[] = [
  {
    name: 'login',
    operands: [],
    options: {
      client: { value: 'ID', summary: 'sign in by browser, as this app; TOLLGATE_CLIENT unless set' },
      scope: { value: 'SCOPES', summary: 'what the app asks for; everything unless set' },
      admin: { summary: 'store the admin token instead of a key' },
      ...REMOTE,
    },
    summary: 'store a key for an address, or sign in by browser',
    details: `Asks for a key, or reads it from standard input, tries it, and stores it for the address; commands use that address
from then on. With --client it signs in by the device flow instead: it prints an address and a code, and a person allows
it in a browser. An operator registers that app once: tollgate oauth create CLI --device.

Credentials are in $XDG_CONFIG_HOME/tollgate/profiles.json (~/.config unless set), mode 0600, one profile per address.
TOLLGATE_KEY goes before them, and never to the address of a login.`,
    isRemote: true,
    run: async (invocation) => (await import('../account/login.ts')).loginCommand(invocation),
  },
  {
    name: 'logout',
    operands: [],
    options: REMOTE,
    summary: 'forget what a login has stored for an address',
    details: 'Removes the profile of the address. The grant of a device login is revoked; a key goes on being one.',
    isRemote: true,
    run: async (invocation) => (await import('../account/login.ts')).logoutCommand(invocation),
  },
  {
    name: 'credits',
    operands: [],
    options: REMOTE,
    summary: 'the balance of the account',
    details: 'What the account can spend, what running work holds, and what it has spent.',
    isRemote: true,
    run: async (invocation) => (await import('../account/money.ts')).showCredits(invocation),
  },
  {
    name: 'usage',
    operands: [],
    options: {
      by: { value: 'GROUP', summary: 'day, model or key; day unless set' },
      from: { value: 'DAY', summary: 'such as 2026-11-01; thirty days ago unless set' },
      to: { value: 'DAY', summary: 'not included; now unless set' },
      csv: { summary: 'print CSV' },
      ...REMOTE,
    },
    summary: 'what was charged, by day, model or key',
    details: 'Adds up what was charged by day, model or key.',
    isRemote: true,
    run: async (invocation) => (await import('../account/money.ts')).showUsage(invocation),
  },
  {
    name: 'keys show',
    operands: [],
    options: REMOTE,
    summary: 'the key that is used, with its limits',
    details: 'Tells about the key that the command was given: its limits and what it has spent. Never the key itself.',
    isRemote: true,
    run: async (invocation) => (await import('../account/money.ts')).showKey(invocation),
  },
];
