import { ConnectorError, type ConnectorErrorKind, type EhrHttp } from '@crossward/connector-kit';

export interface EhrClient {
  /**
   * Sends a request and returns the list in the response. Searches have a body too, so that no identifier of a patient
   * appears in a URL.
   *
   * @param writeId set for a write: the EHR does a write with a known id once, so it can be sent again
   * @throws ConnectorError
   */
  post<Entry extends { readonly id: string }>(path: string, body: object, writeId?: string): Promise<readonly Entry[]>;
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

export function createEhrClient(http: EhrHttp, baseUrl: string): EhrClient {
  return {
    async post(path, body, writeId) {
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
      if (status !== 200)
        throw new ConnectorError(kinds[error] ?? 'rejected', `The EHR responded ${status} to ${path}`);
      if (!Array.isArray(entries) || !entries.every((entry) => typeof entry?.id === 'string')) {
        throw new ConnectorError('rejected', `The EHR sent an invalid response to ${path}`, { fault: true });
      }
      return entries;
    },
  };
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
