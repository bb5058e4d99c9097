import { randomUUID } from 'node:crypto';

/** A new id that the gateway keeps: without digits, it cannot have a national number in it. */
export function newRequestId(): string {
  return randomUUID().replaceAll(/[0-9]/g, (digit) => 'abcdefabcd'.charAt(Number(digit)));
}
