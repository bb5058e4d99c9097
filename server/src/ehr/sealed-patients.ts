import type { AppointmentChange, Connector, ConnectorOperation } from '@crossward/connector-kit';
import type { PatientTokens } from '../secrets/patient-tokens.ts';

/** Which argument of an operation is the id of a patient, if it is an argument of its own. */
const placeOfPatient: Partial<Record<string | symbol, number>> = {
  listHealthcareServices: 2,
  findMedicalNote: 1,
  findDocument: 1,
  readDocument: 1,
} satisfies Partial<Record<ConnectorOperation, number>>;

/**
 * A connector of an EHR to which patients' identifiers pass through, with a token wherever the connector has the identifier.
 * Whatever the gateway plans, stores and shows has the token alone.
 *
 * A patient whom a call names comes back with the token of the call: a stored plan can have one of an earlier secret key.
 */
export function withSealedPatients(connector: Connector, tokens: PatientTokens): Connector {
  return new Proxy(connector, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...input: unknown[]): Promise<unknown> => {
        const named = new Map<string, string>();
        const open = (token: string): string => {
          const id = tokens.open(token);
          if (id === undefined) throw new Error('A token of a patient cannot be opened: its secret key is unknown');
          named.set(id, token);
          return id;
        };
        const opened = input.map((it, index) => {
          if (index === placeOfPatient[name] && it !== undefined) return open(it as string);
          return withOpened(it, open);
        });
        const result: unknown = await Reflect.apply(member, target, opened);
        return withSealed(result, (id) => named.get(id) ?? tokens.seal(id));
      };
    },
  });
}

type Convert = (id: string) => string;

/** A query or a write, or the changes of one. */
function withOpened(input: unknown, open: Convert): unknown {
  if (Array.isArray(input)) return input.map((it: unknown) => withPatient(it, open));
  const converted = withPatient(input, open);
  if (typeof converted !== 'object' || converted === null || !('changes' in converted)) return converted;
  const changes = (converted.changes as readonly AppointmentChange[]).map((it) => withPatient(it, open));
  return { ...converted, changes };
}

/** A record, a list of records, or a page of changed appointments. */
function withSealed(result: unknown, seal: Convert): unknown {
  if (Array.isArray(result)) return result.map((it: unknown) => withPatient(it, seal));
  if (typeof result !== 'object' || result === null || !('changes' in result)) return withPatient(result, seal);
  const changes = (result.changes as readonly { readonly appointment: unknown }[]).map((change) => ({
    ...change,
    appointment: withPatient(change.appointment, seal),
  }));
  return { ...result, changes };
}

function withPatient(it: unknown, convert: Convert): unknown {
  if (typeof it !== 'object' || it === null || !('patientId' in it) || typeof it.patientId !== 'string') return it;
  return { ...it, patientId: convert(it.patientId) };
}
