import {
  type ConnectorContext,
  ConnectorError,
  type ConnectorErrorKind,
  type EhrResponse,
} from '@crossward/connector-kit';
import {
  createJsonClient,
  createSessions,
  isPage,
  jsonIn,
  jsonRequest,
  readRecord,
  Type,
} from '@crossward/connector-kit/rest';
import type { Settings } from './settings.ts';

/** Searches have a body, so that no identifier of a patient appears in a URL. Everything throws a ConnectorError. */
export interface EhrClient {
  /** All entries, of all pages. */
  search(path: string, body: object): Promise<readonly unknown[]>;
  /** The EHR makes a write each time that it arrives, so it is sent once. */
  write(path: string, body: object): Promise<readonly unknown[]>;
}

/** A token is used no longer than until this long before its end, so that it does not end on its way. */
const marginSeconds = 30;
const pauseMilliseconds = 60_000;

/** What the EHR's error codes mean at the port. Every other error is `rejected`. */
const kinds: Readonly<Record<string, ConnectorErrorKind>> = {
  unknown_patient: 'patient_not_found',
  inactive_patient: 'patient_inactive',
  unknown_service: 'healthcare_service_not_found',
  unknown_appointment: 'appointment_not_found',
  unknown_slot: 'time_slot_unavailable',
  not_free: 'time_slot_unavailable',
  cancelled: 'appointment_cancelled',
  started: 'appointment_started',
};

const sessionSchema = Type.Object({ token: Type.String(), seconds: Type.Number() });
const answerSchema = Type.Object({ entries: Type.Array(Type.Unknown()), next: Type.Optional(Type.String()) });
const errorSchema = Type.Object({ error: Type.String() });

interface Session {
  readonly token: string;
  readonly endsAt: Date;
}

export function createEhrClient({ http, settings, now }: ConnectorContext<Settings>): EhrClient {
  const { base_url: base, user, password } = settings;
  const sessions = createSessions<Session, EhrResponse>({
    signIn,
    hasEnded: ({ status }) => status === 401,
    endsAt: ({ endsAt }) => endsAt,
    pauseMilliseconds,
    now,
  });

  async function signIn(): Promise<Session> {
    const request = jsonRequest('POST', `${base}/sign-in`, { user, password: password.reveal() });
    const { status, text } = await http.send({ ...request, writes: false });
    const { record } = status === 200 ? readRecord(sessionSchema, jsonIn(text)) : {};
    if (record)
      return { token: record.token, endsAt: new Date(now().getTime() + (record.seconds - marginSeconds) * 1000) };
    // Only a wrong password is not tried again for a while.
    const refusal = status === 401 ? { status } : undefined;
    throw new ConnectorError('rejected', `The EHR responded ${status} to the sign-in`, { fault: true, refusal });
  }

  const headersOf = ({ token }: Session) => ({ authorization: `Bearer ${token}` });
  const client = createJsonClient({ http, base, sessions, headersOf, refusalOf });
  return {
    async search(path, body) {
      const found: unknown[] = [];
      for (let after: string | undefined; ; ) {
        const { entries, next } = answerIn(await client.ask(path, { ...body, after }));
        found.push(...entries);
        if (next === undefined || entries.length === 0) return found;
        after = next;
      }
    },
    write: async (path, body) => answerIn(await client.write(path, body)).entries,
  };
}

function answerIn(value: unknown) {
  const { record } = readRecord(answerSchema, value);
  if (record) return record;
  throw new ConnectorError('rejected', 'The EHR sent something other than a list', { fault: true });
}

/** The EHR's own text could name a patient. */
function refusalOf(status: number, text: string): ConnectorError {
  const { record } = isPage(text) ? {} : readRecord(errorSchema, jsonIn(text));
  const code = record && kinds[record.error] ? record.error : undefined;
  return new ConnectorError(kinds[code ?? ''] ?? 'rejected', `The EHR responded ${status}`, {
    refusal: { status, ...(code === undefined ? {} : { code }) },
  });
}
