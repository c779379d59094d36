/** What a MessagePack document says. Throws for what is none, or has an end that is missing or is not its own. */
export function decodeMsgpack(bytes: Buffer): unknown {
  const reader = new Reader(bytes);
  const value = reader.value();
  if (reader.at !== bytes.length) throw new Error('something stands behind the document');
  return value;
}

class Reader {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  value(): unknown {
    const type = this.#uint(1);
    if (type < 0x80) return type;
    if (type < 0x90) return this.#map(type & 0x0f);
    if (type < 0xa0) return this.#list(type & 0x0f);
    if (type < 0xc0) return this.#text(type & 0x1f);
    if (type >= 0xe0) return type - 0x100;
    return this.#wide(type);
  }

  #wide(type: number): unknown {
    if (type === 0xc0) return null;
    if (type === 0xc2 || type === 0xc3) return type === 0xc3;
    if (type >= 0xc4 && type <= 0xc6) return this.#take(this.#uint(2 ** (type - 0xc4)));
    if (type === 0xca) return this.#take(4).readFloatBE();
    if (type === 0xcb) return this.#take(8).readDoubleBE();
    if (type >= 0xcc && type <= 0xce) return this.#uint(2 ** (type - 0xcc));
    if (type >= 0xd0 && type <= 0xd2) {
      const length = 2 ** (type - 0xd0);
      return this.#take(length).readIntBE(0, length);
    }
    if (type >= 0xd9 && type <= 0xdb) return this.#text(this.#uint(2 ** (type - 0xd9)));
    if (type === 0xdc || type === 0xdd) return this.#list(this.#uint(type === 0xdc ? 2 : 4));
    if (type === 0xde || type === 0xdf) return this.#map(this.#uint(type === 0xde ? 2 : 4));
    throw new Error(`a type that is not read: ${type}`);
  }

  #list(length: number): unknown[] {
    return Array.from({ length }, () => this.value());
  }

  #map(length: number): Record<string, unknown> {
    return Object.fromEntries(Array.from({ length }, () => [String(this.value()), this.value()]));
  }

  #text(length: number): string {
    return this.#take(length).toString('utf8');
  }

  #uint(length: number): number {
    return this.#take(length).readUIntBE(0, length);
  }

  #take(length: number): Buffer {
    if (this.at + length > this.#bytes.length) throw new Error('the document breaks off');
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }
}
