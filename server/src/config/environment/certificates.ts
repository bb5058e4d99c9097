import { readFile } from 'node:fs/promises';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { ConfigurationError } from '../../startup/configuration-error.ts';

/**
 * Reads certificate authorities from a PEM file.
 *
 * @throws {ConfigurationError} if the file cannot be read or contains no certificate
 */
export async function readCertificates(path: string): Promise<string> {
  try {
    const pem = await readFile(path, 'utf8');
    createSecureContext({ ca: pem });
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('No certificate');
    return pem;
  } catch (cause) {
    throw new ConfigurationError([`${path}: cannot be read as PEM certificates (ca_file)`], { cause });
  }
}

/** A client's certificate with those of its authorities, and its private key. PEM. */
export interface CertificateAndKey {
  readonly cert: string;
  readonly key: string;
}

/**
 * Trusts these authorities (PEM) in addition to the default ones, and shows this certificate to servers that ask for one.
 * Reuse the result: creating it takes milliseconds.
 */
export function trusting(ca: string | undefined, own?: CertificateAndKey): SecureContext {
  return createSecureContext({ ...(ca !== undefined && { ca: [...getCACertificates(), ca] }), ...own });
}
