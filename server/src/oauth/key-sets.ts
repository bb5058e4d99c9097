import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { LruMap } from 'toad-cache';
import { Agent } from 'undici';
import packageJson from '../../package.json' with { type: 'json' };
import type { ClientKeys } from '../clients/read-clients.ts';
import { usableKeys } from '../config/rules/client-keys.ts';
import { type AddressRules, urlMistake } from '../ehr/guard/address-rules.ts';
import { addressRejected, createConnect } from '../ehr/guard/connect.ts';
import { connectionFault } from '../log/connection-fault.ts';

/** Milliseconds for the whole response, at most. */
const longestTimeout = 5_000;
/** Bytes. */
const longestSet = 64 * 1024;
/** Milliseconds that a set is kept, without `Cache-Control` and at most. */
const keptFor = { usually: 5 * 60_000, most: 60 * 60_000 };
/** Milliseconds between readings at least: whoever knows the id of a client can cause them. */
const betweenReadings = 10_000;
const mostSets = 1_000;

interface Settings extends AddressRules {
  readonly timeout_ms: number;
}

/** Why the keys at a URL cannot be used. The text is for the client, and names no address. */
export class KeysUnreadable extends Error {}

/** The keys of clients, as `jwtVerify` asks for them. */
export interface KeySets {
  /**
   * @param kid `undefined`: the only key. A published set is then read again, like for an unknown one: the key may have changed
   * @throws {KeysUnreadable}
   */
  of(keys: ClientKeys, kid: string | undefined): Promise<JWTVerifyGetKey>;
  close(): Promise<void>;
}

interface KeySet {
  readonly kids: ReadonlySet<string>;
  readonly getKey: JWTVerifyGetKey;
  /** By `performance.now()`. */
  readonly until: number;
}

interface PublishedKeys {
  set?: KeySet;
  failure?: KeysUnreadable | undefined;
  /** When the last reading began, by `performance.now()`. */
  readAt?: number;
  reading?: Promise<KeySet> | undefined;
}

/**
 * Reads the keys that clients publish. They are kept as long as the response allows (RFC 9111, `Cache-Control`), and read again
 * once for a key that is not among them, but never sooner than after ten seconds. Requests of one client wait for one reading; those of others do not.
 *
 * @param settings those of webhooks
 */
export function createKeySets(settings: Settings): KeySets {
  const rules = { ...settings, timeout_ms: Math.min(settings.timeout_ms, longestTimeout) };
  const agent = new Agent({
    connect: createConnect({
      connectTimeoutMs: rules.timeout_ms,
      allowPrivateAddresses: rules.allow_private_addresses,
      allowPlainText: rules.allow_http,
    }),
    allowH2: false,
  });
  const byUri = new LruMap<PublishedKeys>(mostSets);
  const given = new WeakMap<object, JWTVerifyGetKey>();

  function inline(jwks: { readonly keys: readonly object[] }): JWTVerifyGetKey {
    const getKey = given.get(jwks) ?? createLocalJWKSet(structuredClone(jwks) as unknown as JSONWebKeySet);
    given.set(jwks, getKey);
    return getKey;
  }

  async function published(uri: string, kid: string | undefined): Promise<JWTVerifyGetKey> {
    const keys = byUri.get(uri) ?? {};
    byUri.set(uri, keys);
    const now = performance.now();
    const isRecent = now - (keys.readAt ?? Number.NEGATIVE_INFINITY) < betweenReadings;
    const { set, reading } = keys;
    if (set && now < set.until && ((kid !== undefined && set.kids.has(kid)) || (isRecent && !reading)))
      return set.getKey;
    if (!reading && keys.failure && isRecent) throw keys.failure;
    return (await (reading ?? startReading(uri, keys))).getKey;
  }

  function startReading(uri: string, keys: PublishedKeys): Promise<KeySet> {
    keys.readAt = performance.now();
    keys.reading = readSet(uri, rules, agent)
      .then(
        (set) => {
          keys.set = set;
          keys.failure = undefined;
          return set;
        },
        (error) => {
          keys.failure = new KeysUnreadable(failureText(error));
          throw keys.failure;
        },
      )
      .finally(() => {
        keys.reading = undefined;
      });
    return keys.reading;
  }

  return {
    of: async (keys, kid) => ('jwks' in keys ? inline(keys.jwks) : published(keys.uri, kid)),
    close: () => agent.destroy(),
  };
}

async function readSet(uri: string, rules: Settings, agent: Agent): Promise<KeySet> {
  // The operator may have changed the rules since the client was created.
  if (urlMistake(uri, rules) !== undefined) throw new KeysUnreadable('the address is not allowed');
  const signal = AbortSignal.timeout(rules.timeout_ms);
  const { origin, pathname, search } = new URL(uri);
  const { statusCode, headers, body } = await agent.request({
    origin,
    path: pathname + search,
    method: 'GET',
    headers: { accept: 'application/json', 'user-agent': `Crossward/${packageJson.version}` },
    signal,
  });
  if (statusCode !== 200) {
    await body.dump({ limit: longestSet, signal }).catch(() => undefined);
    throw new KeysUnreadable(`the response has the status ${statusCode}`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > longestSet) throw new KeysUnreadable(`the response has more than ${longestSet} bytes`);
    chunks.push(chunk);
  }
  const keys = usableKeys(parsed(Buffer.concat(chunks).toString('utf8')));
  if (keys.length === 0) throw new KeysUnreadable('the response is no JWK Set with a key that can be used');
  return {
    kids: new Set(keys.map(({ kid }) => kid)),
    getKey: createLocalJWKSet({ keys } as unknown as JSONWebKeySet),
    until: performance.now() + Math.max(freshFor(headers['cache-control']), betweenReadings),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Milliseconds. */
function freshFor(header: string | string[] | undefined): number {
  const directives = [header ?? ''].flat().join(',').toLowerCase();
  if (/\bno-(store|cache)\b/.test(directives)) return 0;
  const [, seconds] = /\bmax-age="?(\d+)/.exec(directives) ?? [];
  return seconds === undefined ? keptFor.usually : Math.min(Number(seconds) * 1000, keptFor.most);
}

function failureText(error: unknown): string {
  if (error instanceof KeysUnreadable) return error.message;
  const { code, name } = error as { readonly code?: unknown; readonly name?: string };
  if (code === addressRejected) return 'the address is not allowed';
  if (name === 'TimeoutError') return 'there was no complete response in time';
  const kind = connectionFault(error)?.kind;
  return kind === undefined ? 'the connection failed' : `the connection failed (${kind.replaceAll('_', ' ')})`;
}
