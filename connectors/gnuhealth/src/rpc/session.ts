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
    const answer = status === 200 ? readAnswer(text) : undefined;
    const [userId, key] = answer && 'result' in answer && Array.isArray(answer.result) ? answer.result : [];
    if (typeof userId === 'number' && typeof key === 'string') {
      return { userId, authorization: `Session ${Buffer.from(`${user}:${userId}:${key}`).toString('base64')}` };
    }
    // Without a session, no request succeeds. An exception says, for example, that the server wants a second factor.
    const said = answer && 'exception' in answer ? answer.exception : `${status} and no session`;
    const isRefused = status === 401;
    const words = isRefused
      ? 'The EHR rejected the user or its password'
      : `The EHR responded to the login with ${said}`;
    throw new ConnectorError('rejected', words, { fault: true, refusal: isRefused ? { status } : undefined });
  }

  return createSessions({ signIn, hasEnded: ({ status }) => status === 401, pauseMilliseconds, now });
}
