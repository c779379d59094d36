import type { Environment } from '../../config.ts';

/** The kitty protocol takes base64 in pieces of at most this many characters. */
const KITTY_PIECE_CHARS = 4096;

type Protocol = 'kitty' | 'iterm2';

/** What the terminal of this environment can show pictures with; nothing within a multiplexer, which would garble it. */
export function pictureProtocol(environment: Environment): Protocol | undefined {
  const { TERM = '', TERM_PROGRAM = '', LC_TERMINAL = '', KITTY_WINDOW_ID, TMUX } = environment;
  if (TMUX || TERM.startsWith('screen')) return undefined;
  if (KITTY_WINDOW_ID || TERM === 'xterm-kitty' || TERM_PROGRAM === 'ghostty') return 'kitty';
  if (['iTerm.app', 'WezTerm'].includes(TERM_PROGRAM) || LC_TERMINAL === 'iTerm2') return 'iterm2';
  return undefined;
}

/** The escape sequence that shows a picture; undefined where the protocol does not take its format. */
export function pictureSequence(protocol: Protocol, picture: Buffer, mimeType: string): string | undefined {
  const base64 = picture.toString('base64');
  if (protocol === 'iterm2') return `\u001b]1337;File=inline=1;size=${picture.length}:${base64}\u0007\n`;
  if (mimeType !== 'image/png') return undefined;
  const pieces = base64.match(new RegExp(`.{1,${KITTY_PIECE_CHARS}}`, 'g')) ?? [];
  const sequences = pieces.map((piece, at) => {
    const more = at < pieces.length - 1 ? 1 : 0;
    return `\u001b_G${at === 0 ? 'a=T,f=100,' : ''}m=${more};${piece}\u001b\\`;
  });
  return `${sequences.join('')}\n`;
}
