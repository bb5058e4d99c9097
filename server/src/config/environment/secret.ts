import { inspect } from 'node:util';

const shown = '[secret]';

/** A value hidden from logs, JSON and error messages. Only `reveal` returns it. */
export class Secret<Value = string> {
  readonly #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  reveal(): Value {
    return this.#value;
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }
}

/** A copy in which each secret is its value: to compare settings. It must not be logged or stored. */
export function revealed(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(revealed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revealed(item)]));
}

const keyBytes = 32;

/** The format of a secret key, for error messages. */
export const secretKeyForm = `${keyBytes} random bytes in base64 or hexadecimal; generate it with: openssl rand -base64 ${keyBytes}`;

/** Parses exactly 32 bytes in base64, base64url or hexadecimal. Returns `undefined` for any other text. */
export function parseSecretKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[0-9a-z+/_-]{43}=?$/i.test(text)) return Buffer.from(text, 'base64');
  return undefined;
}
