import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** Bytes of an HMAC-SHA-256 that are stored for a patient: half of them, as RFC 2104 section 5 allows. */
const patientHashBytes = 16;

/** One key for each purpose, derived from a key of the audit trail (RFC 5869). */
export interface AuditKey {
  readonly id: string;
  /**
   * Stands for a patient in the trail (HMAC-SHA-256, truncated).
   *
   * @param identifier in its normal form, with its type: `emr_id:p-1`
   */
  hashPatient(emr: string, identifier: string): Buffer;
  /** HMAC-SHA-256 of an entry and what comes before it. */
  chain(previous: Buffer, text: string): Buffer;
  /** HMAC-SHA-256 of a statement about a chain, such as an anchor. */
  sign(text: string): Buffer;
}

/**
 * @param secret 32 bytes
 * @param named the identifier that a patient's token stands for, which stays when the token changes; any other as it is
 */
export function createAuditKey(
  id: string,
  secret: Buffer,
  named: (emr: string, identifier: string) => string = (_, identifier) => identifier,
): AuditKey {
  const derive = (purpose: string): KeyObject =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `crossward audit ${purpose}`, 32)));
  const [ofPatients, ofChains, ofStatements] = [derive('patient'), derive('chain'), derive('statement')];
  return {
    id,
    hashPatient: (emr, identifier) =>
      createHmac('sha256', ofPatients)
        .update(`${emr} ${named(emr, identifier)}`)
        .digest()
        .subarray(0, patientHashBytes),
    chain: (previous, text) => createHmac('sha256', ofChains).update(previous).update(text).digest(),
    sign: (text) => createHmac('sha256', ofStatements).update(text).digest(),
  };
}
