import { ConnectorError } from '../errors.ts';

/** Signs in once for all callers, because a sign-in is slow, and EHRs limit how often it is done. */
export interface Sessions<Session, Answer> {
  /** The session that is kept, or a new one. */
  get(): Promise<Session>;
  /** Ends the use of a session that the EHR does not know any more. */
  drop(session: Session): void;
  /**
   * Sends a request in a session. The EHR has done nothing with a request whose session had ended, so it is sent again, in a new
   * one.
   *
   * @throws ConnectorError `rejected` if the EHR does not know its new session either
   */
  in<Response extends Answer>(send: (session: Session) => Promise<Response>): Promise<Response>;
}

interface SessionOptions<Session, Answer> {
  /**
   * @param former the session that has ended, if there was one
   * @throws ConnectorError with its `refusal` if it is refused. Without an answer, the EHR is `unavailable`: only the sign-in was sent
   */
  signIn(former: Session | undefined): Promise<Session>;
  /** Whether the answer says that the session has ended. */
  hasEnded(response: Answer): boolean;
  /** When a session ends by itself, by the gateway's clock. Absent: nobody knows. */
  endsAt?(session: Session): Date;
  /** For how long a sign-in that was refused is not tried again: an EHR locks a user after some wrong passwords. */
  readonly pauseMilliseconds: number;
  now(): Date;
}

export function createSessions<Session, Answer>(options: SessionOptions<Session, Answer>): Sessions<Session, Answer> {
  const { signIn, hasEnded, endsAt, pauseMilliseconds, now } = options;
  let kept: Session | undefined;
  let former: Session | undefined;
  let signingIn: Promise<Session> | undefined;
  let pausedUntil = 0;

  async function newSession(): Promise<Session> {
    const seconds = Math.ceil((pausedUntil - now().getTime()) / 1000);
    if (seconds > 0) throw paused(seconds);
    try {
      return await signIn(former);
    } catch (error) {
      const isRefused = error instanceof ConnectorError && error.kind === 'rejected' && error.refusal !== undefined;
      if (isRefused) pausedUntil = now().getTime() + pauseMilliseconds;
      throw withoutAnswer(error) ? noAnswerYet(error) : error;
    }
  }

  function drop(session: Session): void {
    // Another request may have found out before, and signed in.
    if (kept !== session) return;
    former = kept;
    kept = undefined;
  }

  async function get(): Promise<Session> {
    if (kept !== undefined && endsAt && endsAt(kept) <= now()) drop(kept);
    if (kept !== undefined) return kept;
    signingIn ??= newSession().finally(() => {
      signingIn = undefined;
    });
    kept = await signingIn;
    return kept;
  }

  return {
    get,
    drop,
    async in(send) {
      for (let attempt = 1; ; attempt++) {
        const session = await get();
        const response = await send(session);
        if (!hasEnded(response)) return response;
        drop(session);
        if (attempt === 2) {
          throw new ConnectorError('rejected', 'The EHR does not accept its own session', { fault: true });
        }
      }
    },
  };
}

function withoutAnswer(error: unknown): boolean {
  return error instanceof ConnectorError && ['timeout', 'connection_closed', 'outcome_unknown'].includes(error.kind);
}

function noAnswerYet(cause: unknown): ConnectorError {
  return new ConnectorError('unavailable', 'The EHR did not respond to the sign-in', { cause });
}

function paused(seconds: number): ConnectorError {
  const words = 'The EHR has refused the sign-in. It is not tried again yet, because the EHR would lock the user';
  return new ConnectorError('unavailable', words, { retryAfterSeconds: seconds });
}
