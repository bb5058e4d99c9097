/** A message of PostgreSQL's protocol: a type, four bytes of length, a body. */
export interface Message {
  readonly type: string;
  /** All of it. */
  readonly bytes: Buffer;
}

/** Bytes of the type and the length. */
const header = 5;

/** Splits a stream into messages. https://www.postgresql.org/docs/current/protocol-message-formats.html */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);

  read(chunk: Buffer): Message[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      if (this.#rest.length < header) return messages;
      // The length does not count the type.
      const end = 1 + this.#rest.readUInt32BE(1);
      if (this.#rest.length < end) return messages;
      const bytes = this.#rest.subarray(0, end);
      messages.push({ type: String.fromCharCode(bytes[0] ?? 0), bytes });
      this.#rest = this.#rest.subarray(end);
    }
  }
}

/** The text that starts at this offset of a message and ends with a zero byte, and the offset after it. */
export function textAt({ bytes }: Message, offset: number): readonly [text: string, next: number] {
  const end = bytes.indexOf(0, offset);
  return [bytes.toString('utf8', offset, end), end + 1];
}

/** Offset of the body. */
export const body = header;
