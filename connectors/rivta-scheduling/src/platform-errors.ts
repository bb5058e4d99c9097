/** What an error of the national service platform means for the caller of the contract. */
interface PlatformError {
  readonly means: string;
  /**
   * - `configuration`: the message went nowhere, and never will until somebody changes a setting, an agreement or a
   *   certificate
   * - `outage`: the platform or the producer is out of order. The producer may have got the message.
   */
  readonly kind: 'configuration' | 'outage';
  /** Whether no message of the gateway gets through, whatever its logical address. Absent: no. */
  readonly concernsAll?: boolean;
}

/** Error codes of the platform's router (https://github.com/skltp/vp), by code. */
const platformErrors: Readonly<Record<string, PlatformError>> = {
  VP001: { means: 'the version of RIV-TA is missing', kind: 'configuration' },
  VP002: { means: 'there is a problem with the client certificate', kind: 'configuration', concernsAll: true },
  VP003: { means: 'the logical address is missing', kind: 'configuration' },
  VP004: { means: 'there is no route for this contract and logical address', kind: 'configuration' },
  VP005: { means: 'the producer does not support this profile of RIV-TA', kind: 'configuration' },
  VP006: { means: 'there is more than one producer for this logical address', kind: 'configuration' },
  VP007: { means: 'the gateway has no permission for this contract and logical address', kind: 'configuration' },
  VP008: { means: 'the service catalogue cannot be reached', kind: 'outage' },
  VP009: { means: 'the producer cannot be reached or responds badly', kind: 'outage' },
  VP010: { means: "the producer's address is missing", kind: 'configuration' },
  VP011: { means: 'the caller is not allowed or does not use TLS', kind: 'configuration', concernsAll: true },
  VP012: { means: 'the platform is out of resources', kind: 'outage' },
  VP013: { means: 'the gateway may not name an original consumer', kind: 'configuration' },
  VP014: { means: 'the message goes round in a loop', kind: 'configuration' },
  VP015: { means: 'the message is malformed', kind: 'configuration' },
};

/** The platform's error that a `faultstring` names. `undefined`: the fault is the producer's own. */
export function platformErrorIn(faultstring: string): (PlatformError & { readonly code: string }) | undefined {
  const [code] = /\bVP0(?:0[1-9]|1[0-5])\b/.exec(faultstring) ?? [];
  const error = code === undefined ? undefined : platformErrors[code];
  return code !== undefined && error ? { code, ...error } : undefined;
}
