const BAR_CHARS = 24;

/** A bar on standard error that is drawn over itself; where that is no terminal, nothing. */
export class ProgressBar {
  readonly #isShown: boolean;
  #drawn = '';

  constructor(isWanted: boolean) {
    this.#isShown = isWanted && process.stderr.isTTY === true;
  }

  draw(percent: number, text: string): void {
    if (!this.#isShown) return;
    const full = Math.round((Math.min(Math.max(percent, 0), 100) / 100) * BAR_CHARS);
    const line = `${'█'.repeat(full)}${'░'.repeat(BAR_CHARS - full)} ${String(percent).padStart(3)} %  ${text}`;
    if (line === this.#drawn) return;
    this.#drawn = line;
    process.stderr.write(`\r\u001b[2K${line}`);
  }

  clear(): void {
    if (this.#drawn !== '') process.stderr.write('\r\u001b[2K');
    this.#drawn = '';
  }
}
