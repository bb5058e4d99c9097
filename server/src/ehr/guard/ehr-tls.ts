import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { SecureContext } from 'node:tls';
import type { ConfiguredEmr } from '../../config/configuration.ts';
import { type CertificateAndKey, readCertificates, trusting } from '../../config/environment/certificates.ts';
import type { ClientCertificateSettings } from '../../config/schema/connection.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';

/** What secures the connections to an EHR: the authorities to trust, and the gateway's own certificate. */
export interface EhrTls {
  /** For new connections. Reads files that have changed; keeps what was read before if they cannot be used. */
  refresh(): Promise<SecureContext>;
  /** When the gateway's certificate, or that of an authority in its file, expires. `undefined`: it has none. */
  expiresAt(): Date | undefined;
  /** Why the files as they are now cannot be used. Names the file and the setting, nothing of its content. */
  fault(): string | undefined;
}

interface Material {
  readonly context: SecureContext;
  readonly expiresAt: Date | undefined;
}

type Source = ClientCertificateSettings['client_key'];

/**
 * The TLS settings of an EHR. `undefined`: only the default authorities are trusted, and no certificate is shown.
 *
 * @throws ConfigurationError if a file cannot be read or used
 */
export async function openTls({
  id,
  connection,
}: Pick<ConfiguredEmr, 'id' | 'connection'>): Promise<EhrTls | undefined> {
  const { ca_file: caFile, tls } = connection;
  if (caFile === undefined && !tls) return undefined;
  const files = [caFile, tls?.client_certificate, tls?.client_key].filter((it) => typeof it === 'string');
  const read = async (): Promise<Material> => {
    const ca = caFile === undefined ? undefined : await readCertificates(caFile);
    const own = tls && (await readOwn(id, tls));
    return { context: trusting(ca, own), expiresAt: own && expiryOf(own.cert) };
  };

  let version = await versionOf(files);
  let material = await read();
  let fault: string | undefined;
  let refreshing: Promise<void> | undefined;

  async function readChanged(): Promise<void> {
    const now = await versionOf(files);
    if (now === version) return;
    try {
      material = await read();
      fault = undefined;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      fault = error.message;
    }
    version = now;
  }

  return {
    async refresh() {
      refreshing ??= readChanged().finally(() => {
        refreshing = undefined;
      });
      await refreshing;
      return material.context;
    },
    expiresAt: () => material.expiresAt,
    fault: () => fault,
  };
}

/** Differs after a file was written, replaced, or removed. */
async function versionOf(files: readonly string[]): Promise<string> {
  const versions = await Promise.all(
    files.map((file) =>
      stat(file, { bigint: true }).then(
        ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
        () => 'unreadable',
      ),
    ),
  );
  return versions.join(', ');
}

async function readOwn(emr: string, tls: ClientCertificateSettings): Promise<CertificateAndKey> {
  const fail = (setting: keyof ClientCertificateSettings, what: string, cause?: unknown) => {
    const source = tls[setting];
    const place = typeof source === 'string' ? source : `the environment variable of EHR ${emr}`;
    return new ConfigurationError([`${place}: ${what} (tls.${setting})`], { cause });
  };
  const cert = await textOf(tls.client_certificate);
  const key = await textOf(tls.client_key);
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch (cause) {
    throw fail('client_certificate', 'cannot be read as a PEM certificate', cause);
  }
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(key);
  } catch (cause) {
    const what = isEncrypted(key)
      ? 'has a passphrase; store the key without one'
      : 'cannot be read as a PEM private key';
    throw fail('client_key', what, cause);
  }
  if (!certificate.checkPrivateKey(privateKey)) throw fail('client_key', 'is not the key of the certificate');
  return { cert: cert, key: key };
}

/** Empty: it cannot be read. */
async function textOf(source: Source): Promise<string> {
  return typeof source === 'string' ? readFile(source, 'utf8').catch(() => '') : source.reveal();
}

function isEncrypted(key: string): boolean {
  return /BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(key);
}

/** The first that expires. */
function expiryOf(pem: string): Date {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const ends = certificates.map((it) => new X509Certificate(it).validToDate.getTime());
  return new Date(Math.min(...ends));
}
