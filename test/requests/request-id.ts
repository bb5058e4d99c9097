import { randomUUID } from 'node:crypto';

/** A new id that the gateway keeps. */
export function newRequestId(): string {
  return randomUUID();
}
