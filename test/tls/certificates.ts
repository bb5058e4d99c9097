import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

interface Validity {
  readonly from?: Date;
  readonly to?: Date;
}

/** An authority that issues certificates (RFC 5280) for 127.0.0.1. Nobody else trusts it. */
export interface Authority {
  /** PEM. */
  readonly cert: string;
  /** A certificate with its key. Valid until 2049 unless `to` is earlier. */
  issue(validity?: Validity): Certificate;
}

export function createAuthority(name = 'test authority'): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    cert: certificate({
      subject: name,
      issuer: name,
      publicKey: own.publicKey,
      signedWith: own.privateKey,
      isAuthority: true,
    }),
    issue(validity) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return {
        cert: certificate({ subject: 'test', issuer: name, publicKey, signedWith: own.privateKey, ...validity }),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}

/** A self-signed certificate for 127.0.0.1 and its key. */
export function selfSigned(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    cert: certificate({ subject: 'test', issuer: 'test', publicKey, signedWith: privateKey, isAuthority: true }),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

interface Contents extends Validity {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signedWith: KeyObject;
  readonly isAuthority?: boolean;
}

function certificate({ subject, issuer, publicKey, signedWith, isAuthority = false, ...validity }: Contents): string {
  const { from = new Date('2020-01-01T00:00:00Z'), to = new Date('2049-12-31T23:59:59Z') } = validity;
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const nameOf = (text: string) =>
    der(0x30, der(0x31, der(0x30, der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(text)))));
  const extension = (id: string, value: Buffer) =>
    der(0x30, der(0x06, Buffer.from(id, 'hex')), der(0x04, der(0x30, value)));
  const extensions = der(
    0x30,
    ...(isAuthority ? [extension('551d13', der(0x01, Buffer.from([0xff])))] : []),
    extension('551d11', der(0x87, Buffer.from([127, 0, 0, 1]))),
  );
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ...randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(issuer),
    der(0x30, utcTime(from), utcTime(to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, signedWith));
  const text = der(0x30, body, ecdsaWithSha256, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${text.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** Until 2049. */
function utcTime(date: Date): Buffer {
  return der(0x17, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(2, 14)}Z`));
}

/** Tag, length and value (X.690). */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const prefix =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(prefix), value]);
}
