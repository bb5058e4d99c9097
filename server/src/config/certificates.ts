import { readFile } from 'node:fs/promises';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { ConfigurationError } from '../startup/configuration-error.ts';

/**
 * Certificate authorities of a PEM file.
 *
 * @throws {ConfigurationError} when it cannot be read, or holds none
 */
export async function readCertificates(path: string): Promise<string> {
  try {
    const pem = await readFile(path, 'utf8');
    createSecureContext({ ca: pem });
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('No certificate');
    return pem;
  } catch (cause) {
    throw new ConfigurationError([`${path}: cannot be read as certificates in PEM (ca_file)`], { cause });
  }
}

/** Trusts these authorities (PEM) beside the usual ones. Made once: reading them all anew costs some milliseconds. */
export function trusting(ca: string): SecureContext {
  return createSecureContext({ ca: [...getCACertificates(), ca] });
}
