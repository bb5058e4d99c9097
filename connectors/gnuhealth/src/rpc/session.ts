import { ConnectorError, type EhrHttp } from '@crossward/connector-kit';
import type { GnuHealthSettings } from '../settings.ts';
import { readAnswer } from './answer.ts';

/**
 * Tryton locks a login for all after more than five wrong passwords within this time (`session.timeout`), so a password that
 * was rejected is not tried again before it is over.
 */
const pauseMilliseconds = 5 * 60_000;

export interface Session {
  /** The login's own id. */
  readonly userId: number;
  readonly authorization: string;
}

export interface Sessions {
  /** The session that is kept, or a new one. */
  get(): Promise<Session>;
  /** Ends the use of a session that the server does not know any more. */
  drop(session: Session): void;
}

/** Logs in once for all callers: a login takes half a second, a call with its session a few milliseconds. */
export function createSessions(
  http: EhrHttp,
  { base_url, database, user, password }: GnuHealthSettings,
  now: () => number,
): Sessions {
  let kept: Session | undefined;
  let login: Promise<Session> | undefined;
  let pausedUntil = 0;

  async function logIn(): Promise<Session> {
    const seconds = Math.ceil((pausedUntil - now()) / 1000);
    if (seconds > 0) throw locked(seconds);
    const { status, text } = await http
      .send({
        method: 'POST',
        url: `${base_url}/${database}/`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: 0,
          method: 'common.db.login',
          params: [user, { password: password.reveal() }],
        }),
        repeatable: false,
        writes: false,
      })
      .catch((error: unknown) => {
        // Nothing but the login was sent. The lock is 429, which counts as `unavailable`.
        if (error instanceof ConnectorError && error.kind === 'unavailable') throw error;
        throw new ConnectorError('unavailable', 'The EHR did not respond to the login', { cause: error });
      });
    if (status === 401) {
      pausedUntil = now() + pauseMilliseconds;
      throw noLogin('The EHR rejected the user or its password');
    }
    if (status !== 200) throw noLogin(`The EHR responded ${status} to the login`);
    const answer = readAnswer(text);
    // Such as that it wants a second factor.
    if (answer && 'exception' in answer) throw noLogin(`The EHR responded to the login with ${answer.exception}`);
    const session = readSession(answer?.result);
    if (!session) throw noLogin('The EHR sent an invalid response to the login');
    const [userId, key] = session;
    const authorization = `Session ${Buffer.from(`${user}:${userId}:${key}`).toString('base64')}`;
    return { userId, authorization };
  }

  return {
    async get() {
      if (kept) return kept;
      login ??= logIn().finally(() => {
        login = undefined;
      });
      kept = await login;
      return kept;
    },
    drop(session) {
      // Another request may have found out before, and logged in.
      if (kept === session) kept = undefined;
    },
  };
}

/** Without a session, no request succeeds. */
function noLogin(words: string): ConnectorError {
  return new ConnectorError('rejected', words, { fault: true });
}

function locked(seconds: number): ConnectorError {
  const words = 'The EHR has rejected the password. It is not tried again yet, because the EHR would lock the user';
  return new ConnectorError('unavailable', words, { retryAfterSeconds: seconds });
}

function readSession(result: unknown): readonly [number, string] | undefined {
  if (!Array.isArray(result)) return undefined;
  const [userId, key]: unknown[] = result;
  return typeof userId === 'number' && typeof key === 'string' ? [userId, key] : undefined;
}
