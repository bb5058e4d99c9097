import {
  ConnectorError,
  type ConnectorErrorKind,
  type EhrHttp,
  type EhrRequest,
  type EhrResponse,
  type LeftOutRecord,
  type SecretValue,
} from '@crossward/connector-kit';
import { createSessions } from '@crossward/connector-kit/rest';

export interface Settings {
  readonly base_url: string;
  readonly user: string;
  readonly password: SecretValue;
}

/** A kind of record, and what each of its fields must be like. The EHR's own staff and programs may have written anything. */
export interface Kind<Entry> {
  readonly name: string;
  readonly fields: { readonly [Field in keyof Entry]: (value: unknown) => boolean };
}

/** Searches have a body, so that no identifier of a patient appears in a URL. Everything throws a ConnectorError. */
export interface EhrClient {
  /** All entries of a search. One that cannot be read is an error: it is not gone. */
  read<Entry>(path: string, body: object, kind: Kind<Entry>): Promise<readonly Entry[]>;
  /** As `read`, for a list. A record that cannot be read hides no other: it is left out, and counted. */
  list<Entry>(path: string, body: object, kind: Kind<Entry>): Promise<readonly Entry[]>;
  /** A write. The EHR makes it each time that it arrives, so it is sent once. */
  write<Entry>(path: string, body: object, kind: Kind<Entry>): Promise<readonly Entry[]>;
}

/** A token is used no longer than until this long before its end, so that it does not end on its way. */
const marginSeconds = 30;
const pauseMilliseconds = 60_000;

/** What the EHR's error codes mean at the port. Every other error is `rejected`. */
const kinds: Readonly<Record<string, ConnectorErrorKind>> = {
  unknown_patient: 'patient_not_found',
  unknown_service: 'healthcare_service_not_found',
  unknown_appointment: 'appointment_not_found',
  unknown_slot: 'time_slot_unavailable',
  not_free: 'time_slot_unavailable',
  cancelled: 'appointment_cancelled',
  started: 'appointment_started',
};

interface Session {
  readonly token: string;
  readonly endsAt: Date;
}

export function createEhrClient(
  http: EhrHttp,
  settings: Settings,
  now: () => Date,
  leftOut: (record: LeftOutRecord) => void = () => undefined,
): EhrClient {
  const sessions = createSessions<Session, EhrResponse>({
    signIn,
    hasEnded: ({ status }) => status === 401,
    endsAt: ({ endsAt }) => endsAt,
    pauseMilliseconds,
    now,
  });

  function post(path: string, body: object): EhrRequest {
    const headers = { 'content-type': 'application/json' };
    return { method: 'POST', url: settings.base_url + path, headers, body: JSON.stringify(body), repeatable: true };
  }

  async function signIn(): Promise<Session> {
    const { user, password } = settings;
    const { status, text } = await http.send(post('/sign-in', { user, password: password.reveal() }));
    const { token, seconds } = status === 200 ? parsed(text) : {};
    if (!isText(token) || typeof seconds !== 'number') {
      // Only a wrong password is not tried again for a while.
      throw new ConnectorError('rejected', `The EHR responded ${status} to the sign-in`, {
        fault: true,
        refusal: status === 401 ? { status } : undefined,
      });
    }
    return { token, endsAt: new Date(now().getTime() + (seconds - marginSeconds) * 1000) };
  }

  async function send(request: EhrRequest): Promise<{ readonly entries: readonly unknown[]; readonly next: unknown }> {
    const { status, text } = await sessions.in(({ token }) =>
      http.send({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } }),
    );
    const { entries, next, error } = parsed(text);
    if (status !== 200) {
      // The EHR's own text could name a patient.
      const code = isText(error) && kinds[error] ? error : undefined;
      throw new ConnectorError(kinds[code ?? ''] ?? 'rejected', `The EHR responded ${status}`, {
        refusal: { status, ...(code === undefined ? {} : { code }) },
      });
    }
    if (Array.isArray(entries)) return { entries, next };
    throw new ConnectorError('rejected', 'The EHR sent something other than a list', { fault: true });
  }

  async function allPages(path: string, body: object): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    for (let after: unknown; ; ) {
      const { entries, next } = await send(post(path, { ...body, after }));
      found.push(...entries);
      if (next === undefined || entries.length === 0) return found;
      after = next;
    }
  }

  return {
    read: async (path, body, kind) => (await allPages(path, body)).map((entry) => readable(kind, entry)),
    async list(path, body, kind) {
      return (await allPages(path, body)).flatMap((entry) => {
        if (isOf(kind, entry)) return [entry];
        leftOut({ type: kind.name, id: idOf(entry), path: faultIn(kind, entry) ?? '' });
        return [];
      });
    },
    async write(path, body, kind) {
      const { entries } = await send({ ...post(path, body), repeatable: false });
      return entries.map((entry) => readable(kind, entry));
    },
  };
}

function readable<Entry>(kind: Kind<Entry>, entry: unknown): Entry {
  if (isOf(kind, entry)) return entry;
  throw new ConnectorError('rejected', `The EHR sent a ${kind.name} that cannot be read, at ${faultIn(kind, entry)}`);
}

function isOf<Entry>(kind: Kind<Entry>, entry: unknown): entry is Entry {
  return faultIn(kind, entry) === undefined;
}

/** A JSON Pointer to the first field that is not as it must be, with nothing from the record. */
function faultIn<Entry>({ fields }: Kind<Entry>, entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null) return '';
  const values = new Map<string, unknown>(Object.entries(entry));
  const tests = Object.entries(fields) as [string, (value: unknown) => boolean][];
  const wrong = tests.find(([field, isRight]) => !isRight(values.get(field)));
  return wrong && `/${wrong[0]}`;
}

function idOf(entry: unknown): string | undefined {
  const id = typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;
  return isText(id) ? id : undefined;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

export function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // Reported as an invalid response. The parser's message would quote patient data.
    return {};
  }
}
