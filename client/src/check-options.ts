/** What callers in JavaScript may have given. */
interface Options {
  readonly baseUrl: unknown;
  readonly clientId: unknown;
  readonly clientSecret?: unknown;
  readonly privateKey?: unknown;
  readonly accessToken?: unknown;
  readonly tokenUrl?: unknown;
}

/**
 * Checks what says which gateway is called, and as whom. The errors name the option and not its value, which can be secret.
 *
 * @throws {TypeError} with what is wrong and what is expected
 */
export function checkOptions(options: Options): void {
  const { baseUrl, clientId, clientSecret, privateKey, accessToken, tokenUrl } = options;
  checkBaseUrl(baseUrl);
  checkCredential('clientId', clientId);
  if ([clientSecret, privateKey, accessToken].filter((it) => it !== undefined).length > 1)
    throw new TypeError('clientSecret, privateKey and accessToken cannot be used together');
  if (accessToken !== undefined) {
    checkCredential('accessToken', accessToken);
    return;
  }
  if (privateKey === undefined) {
    checkCredential('clientSecret', clientSecret);
    return;
  }
  checkKey(privateKey);
  if (tokenUrl !== undefined && (typeof tokenUrl !== 'string' || !parse(tokenUrl)))
    throw new TypeError(
      'tokenUrl must be the URL of the token endpoint, such as https://gateway.example/api/oauth/token',
    );
}

function checkKey(privateKey: unknown): void {
  const { key, keyId } = (privateKey ?? {}) as { readonly key?: unknown; readonly keyId?: unknown };
  const kid = keyId ?? (typeof key === 'object' && key !== null && 'kid' in key ? key.kid : undefined);
  if ((typeof key !== 'string' && typeof key !== 'object') || !key)
    throw new TypeError('privateKey.key must be a private key: PKCS #8 in PEM, or a JWK');
  if (typeof kid !== 'string' || kid === '') throw new TypeError('privateKey.keyId must be the kid of the public key');
}

function checkBaseUrl(baseUrl: unknown): void {
  if (typeof baseUrl !== 'string' || baseUrl.trim() === '')
    throw new TypeError('baseUrl must be the URL of the gateway, such as https://gateway.example');
  if (!/^https?:\/\//i.test(baseUrl)) throw new TypeError('baseUrl must start with https:// or http://');
  const url = parse(baseUrl);
  if (!url) throw new TypeError('baseUrl is not a valid URL');
  if (url.username !== '' || url.password !== '')
    throw new TypeError('baseUrl must not contain a user name or password: use clientId and clientSecret');
  if (url.search !== '' || url.hash !== '') throw new TypeError('baseUrl must not contain a query or fragment');
  if (/\/api\/*$/.test(url.pathname)) throw new TypeError('baseUrl must not end with /api: the client adds it');
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Spaces and line breaks around it are not sent. */
function checkCredential(name: string, value: unknown): void {
  if (typeof value !== 'string' || value.trim() === '') throw new TypeError(`${name} must not be empty`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a header must not contain them.
  if (/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(value.trim())) {
    throw new TypeError(`${name} has characters that a header cannot hold`);
  }
}
