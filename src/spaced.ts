/** Pieces of a text in one line, with a space between those that say something. */
export function spaced(pieces: readonly string[]): string {
  return pieces
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
    .join(' ');
}
