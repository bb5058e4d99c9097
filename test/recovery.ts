import type { Configuration } from '../server/src/config/configuration.ts';
import { eventually } from './codes.ts';
import type { FaultyEhr } from './faulty-ehr.ts';
import type { Answer, Gateway } from './gateway.ts';
import { withPatientBreakers } from './other-ehrs.ts';

interface Recovery {
  /** How long after the EHR was last asked it is not believed that it shows nothing. */
  readonly settling_seconds?: number;
  /** How long after the request it may still be performed. */
  readonly give_up_seconds?: number;
  /** How long one operation of the EHR may take, and may wait for its turn. */
  readonly timeout_ms?: number;
}

/** For tests in which an EHR fails for a while: what the gateway waits for comes soon, and no breaker opens. */
export function withQuickRecovery(
  configuration: Configuration,
  { settling_seconds = 1, give_up_seconds = 600, timeout_ms = 5_000 }: Recovery = {},
): Configuration {
  const limits = { timeout_ms, queue_timeout_ms: timeout_ms, settling_seconds, give_up_seconds };
  const patient = withPatientBreakers(configuration);
  const emrs = patient.emrs.map((emr) => ({ ...emr, connection: { ...emr.connection, ...limits } }));
  return { ...patient, emrs };
}

type Told = Answer<{ readonly reason?: string }>;

/** Until every EHR of the gateway is open: the start does not wait for long. */
export async function allOpen(gateway: Gateway): Promise<void> {
  await eventually(async () => {
    const { body } = await gateway.request<{ emrs: { id: string; status: string }[] }>('GET', '/api/emrs');
    const closed = body.emrs.filter(({ status }) => status !== 'available');
    if (closed.length > 0) throw new Error(`Not open: ${closed.map(({ id }) => id)}`);
  });
}

/** The answer, as soon as nobody else is at work on it. */
export function answerOf<Result extends Told>(send: () => Promise<Result>): Promise<Result> {
  return eventually(async () => {
    const answer = await send();
    if (answer.body.reason === 'idempotency_in_progress') throw new Error('Somebody else is at work on it');
    return answer;
  });
}

/** The answer, as soon as it is known what has become of it. */
export function knownAnswerOf<Result extends Told>(send: () => Promise<Result>): Promise<Result> {
  return eventually(async () => {
    const answer = await answerOf(send);
    if (answer.body.reason === 'outcome_unknown') throw new Error('It is not known yet');
    return answer;
  });
}

/** Until the gateway has asked the EHR by itself, so many times from now on, and met nobody. */
export async function askedInVain(ehr: FaultyEhr, times = 1): Promise<void> {
  const before = ehr.refused;
  await eventually(() => {
    if (ehr.refused < before + times) throw new Error('The EHR has not been asked');
  });
}

/** Until the gateway has asked by itself what became of a write, at that time (ms as of `Date.now()`) or later. */
export async function lookedUpInVain(ehr: FaultyEhr, since: number): Promise<void> {
  await eventually(() => {
    if (!ehr.vainLookUps.some((firstSentAt) => firstSentAt >= since)) throw new Error('The EHR has not been asked');
  });
}

/**
 * Until the gateway has made one more call to an EHR, by itself, with these words among its labels in `/metrics`. For an
 * EHR over HTTP.
 */
export async function nextCall(gateway: Gateway, emr: string, ...words: readonly string[]): Promise<void> {
  const count = async () => {
    const { text } = await gateway.request('GET', '/metrics', { client: null });
    const calls = text.matchAll(/^crossward_ehr_calls_total\{(.*)\} (\d+)$/gm);
    return [...calls]
      .filter(([, labels = '']) => [emr, ...words].every((word) => labels.includes(`"${word}"`)))
      .reduce((sum, [, , number]) => sum + Number(number), 0);
  };
  const before = await count();
  await eventually(async () => {
    if ((await count()) === before) throw new Error('The EHR has not been asked');
  });
}
