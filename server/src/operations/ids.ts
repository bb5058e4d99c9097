import { createHash } from 'node:crypto';

/**
 * The id that the EHR gets for an attempt at an operation or for one part of it: a deterministic UUID, version 8
 * (RFC 9562 section 5.8). The first attempt as a whole uses the operation's own id.
 */
export function ehrOperationId(id: string, attempt: number, part: number | string | undefined): string {
  if (attempt === 0 && part === undefined) return id;
  const bytes = createHash('sha256')
    .update(JSON.stringify([id, attempt, part ?? null]))
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
