import { ConnectorError, type ConnectorErrorKind, type EhrHttp, type LeftOutRecord } from '@crossward/connector-kit';

/** A kind of record, and what each of its fields must be like. The EHR's own staff and programs may have written anything. */
export interface Kind<Entry> {
  readonly name: string;
  readonly fields: { readonly [Field in keyof Entry]: (value: unknown) => boolean };
}

export interface EhrClient {
  /**
   * Sends a request and returns the list in the response. Searches have a body too, so that no identifier of a patient
   * appears in a URL.
   *
   * @param writeId set for a write: the EHR does a write with a known id once, so it can be sent again
   * @throws ConnectorError, also if a record cannot be read: it is not gone
   */
  post<Entry>(path: string, body: object, kind: Kind<Entry>, writeId?: string): Promise<readonly Entry[]>;
  /** As `post`, for a list. A record that cannot be read hides no other: it is left out, and counted. */
  list<Entry>(path: string, body: object, kind: Kind<Entry>): Promise<readonly Entry[]>;
}

/** What the EHR's error codes mean at the port. Every other error is `rejected`. */
const kinds: Readonly<Record<string, ConnectorErrorKind>> = {
  unknown_patient: 'patient_not_found',
  unknown_practitioner: 'resource_not_found',
  unknown_service: 'healthcare_service_not_found',
  unknown_appointment: 'appointment_not_found',
  not_free: 'time_slot_unavailable',
  cancelled: 'appointment_cancelled',
  started: 'appointment_started',
};

export function createEhrClient(
  http: EhrHttp,
  baseUrl: string,
  leftOut: (record: LeftOutRecord) => void = () => undefined,
): EhrClient {
  async function entriesOf(path: string, body: object, writeId?: string): Promise<readonly unknown[]> {
    const { status, text } = await http.send({
      method: 'POST',
      url: `${baseUrl}${path}`,
      headers: { 'content-type': 'application/json', ...(writeId === undefined ? {} : { 'write-id': writeId }) },
      body: JSON.stringify(body),
      repeatable: true,
      writes: writeId !== undefined,
    });
    const { entries, error } = parsed(text);
    // The path has ids of care units only. The EHR's own text could name a patient.
    if (status !== 200) throw new ConnectorError(kinds[error] ?? 'rejected', `The EHR responded ${status} to ${path}`);
    if (!Array.isArray(entries)) {
      throw new ConnectorError('rejected', `The EHR sent an invalid response to ${path}`, { fault: true });
    }
    return entries;
  }

  return {
    async post(path, body, kind, writeId) {
      const entries = await entriesOf(path, body, writeId);
      return entries.map((entry) => {
        if (isOf(kind, entry)) return entry;
        throw new ConnectorError(
          'rejected',
          `The EHR sent a ${kind.name} that cannot be read, at ${faultIn(kind, entry)}`,
        );
      });
    },
    async list(path, body, kind) {
      const entries = await entriesOf(path, body);
      return entries.flatMap((entry) => {
        if (isOf(kind, entry)) return [entry];
        leftOut({ type: kind.name, id: idOf(entry), path: faultIn(kind, entry) ?? '' });
        return [];
      });
    },
  };
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

/** A time with its offset: one without would be read in the time zone of this process. */
export function isTime(value: unknown): boolean {
  return isText(value) && /T.*(Z|[+-]\d{2}:\d{2})$/.test(value) && !Number.isNaN(Date.parse(value));
}

function parsed(text: string): { entries?: unknown; error: string } {
  try {
    const { entries, error } = JSON.parse(text) as { entries?: unknown; error?: unknown };
    return { entries, error: String(error) };
  } catch {
    // Reported as an invalid response. The parser's message would quote patient data.
    return { error: '' };
  }
}
