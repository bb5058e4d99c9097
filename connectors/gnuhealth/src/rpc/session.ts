import { ConnectorError, type EhrHttp } from '@crossward/connector-kit';
import { createSessions, type Sessions } from '@crossward/connector-kit/rest';
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

interface Answered {
  readonly status: number;
}

/** A login takes half a second, a call with its session a few milliseconds. */
export function gnuHealthSessions(
  http: EhrHttp,
  { base_url, database, user, password }: GnuHealthSettings,
  now: () => Date,
): Sessions<Session, Answered> {
  async function signIn(): Promise<Session> {
    const params = [user, { password: password.reveal() }];
    // The lock is 429, which counts as `unavailable`.
    const { status, text } = await http.send({
      method: 'POST',
      url: `${base_url}/${database}/`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 0, method: 'common.db.login', params }),
      repeatable: false,
      writes: false,
    });
    if (status === 401) throw noLogin('The EHR rejected the user or its password', status);
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

  return createSessions({ signIn, hasEnded: ({ status }) => status === 401, pauseMilliseconds, now });
}

/** Without a session, no request succeeds. */
function noLogin(words: string, refused?: number): ConnectorError {
  return new ConnectorError('rejected', words, { fault: true, ...(refused ? { refusal: { status: refused } } : {}) });
}

function readSession(result: unknown): readonly [number, string] | undefined {
  if (!Array.isArray(result)) return undefined;
  const [userId, key]: unknown[] = result;
  return typeof userId === 'number' && typeof key === 'string' ? [userId, key] : undefined;
}
