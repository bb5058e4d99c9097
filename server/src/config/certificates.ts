import { readFile } from 'node:fs/promises';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { ConfigurationError } from '../startup/configuration-error.ts';

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

/** Trusts these authorities (PEM) in addition to the default ones. Reuse the result: creating it takes milliseconds. */
export function trusting(ca: string): SecureContext {
  return createSecureContext({ ca: [...getCACertificates(), ca] });
}
