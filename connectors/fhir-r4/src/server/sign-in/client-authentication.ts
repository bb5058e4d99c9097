import type { webcrypto } from 'node:crypto';
import { ConnectorError } from '@crossward/connector-kit';
import { importJWK, importPKCS8 } from 'jose';
import { type ClientAuth, ClientSecretPost, modifyAssertion, PrivateKeyJwt } from 'oauth4webapi';
import type { AuthSettings } from '../../settings.ts';

type SecretAuth = Extract<AuthSettings, { type: 'client_credentials' }>;
type KeyAuth = Extract<AuthSettings, { type: 'smart_backend_services' }>;

/** https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1 */
export function clientSecret({ client_secret, send_secret_in }: SecretAuth): ClientAuth {
  const secret = client_secret.reveal();
  return send_secret_in === 'body' ? ClientSecretPost(secret) : clientSecretBasic(secret);
}

/**
 * Client id and secret in the form encoding of the RFC. `ClientSecretBasic` of oauth4webapi also escapes `-`, `.` and
 * `_`, which that encoding leaves as they are. Servers that do not decode, such as Medplum, then find no client whose id
 * is a UUID.
 */
function clientSecretBasic(secret: string): ClientAuth {
  return (_server, { client_id }, _body, headers) => {
    const pair = `${formEncoded(client_id)}:${formEncoded(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  };
}

/** https://url.spec.whatwg.org/#application-x-www-form-urlencoded-percent-encode-set */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/**
 * The signed assertion of SMART Backend Services: `aud` is the token endpoint's URL, `exp` is a minute ahead (at
 * most five are allowed), and every assertion has its own `jti`.
 * https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html
 */
export async function privateKeyJwt({ private_key, algorithm = 'RS384', key_id }: KeyAuth): Promise<ClientAuth> {
  const key = await importPrivateKey(private_key.reveal().trim(), algorithm);
  return (server, client, body, headers) =>
    PrivateKeyJwt(
      { key, kid: key_id },
      {
        [modifyAssertion]: (header, payload) => {
          header.typ = 'JWT';
          payload.aud = server.token_endpoint;
        },
      },
    )(server, client, body, headers);
}

async function importPrivateKey(text: string, algorithm: string): Promise<webcrypto.CryptoKey> {
  try {
    const key = text.startsWith('{')
      ? await importJWK(JSON.parse(text), algorithm)
      : await importPKCS8(text.replaceAll('\\n', '\n'), algorithm);
    if (!(key instanceof Uint8Array)) return key;
  } catch {
    // The error could quote the key.
  }
  throw new ConnectorError('rejected', `The private key is not a valid ${algorithm} key in PKCS #8 or JWK form`);
}
