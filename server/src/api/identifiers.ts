import type { PatientIdentifier, ResourceIdentifier } from '@crossward/connector-kit';
import type { FastifyRequest } from 'fastify';
import { reachedPatient } from '../context/work-context.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import {
  formatIdentifier,
  IdentifierError,
  isReferable,
  type ReadHeader,
  readPatientIdentifier,
  readResourceIdentifier,
  type ValueRule,
} from '../identifiers/index.ts';
import { type Place, problemAt } from '../problems/problem.ts';

/**
 * Reads the patient identifier at this place of the request, by the rules of the EHR. One that passes through becomes the token
 * that stands for it: nothing after this knows the number.
 */
export function patientIdentifier(
  text: string,
  place: Place,
  ehr: EhrConnection,
  readHeader: ReadHeader,
): PatientIdentifier {
  const { patientIdentifierTypes: types, passesThrough } = ehr.capabilities;
  const emrId = passesThrough && tokenRule(ehr);
  const policy = { types, ...ehr.numbers, emrId };
  const read = atPlace(place, () => readPatientIdentifier(text, policy, readHeader));
  const passes = passesThrough?.some((type) => type === read.type);
  const identifier = passes ? { type: 'emr_id' as const, value: ehr.patientTokens.seal(formatIdentifier(read)) } : read;
  reachedPatient(identifier);
  return identifier;
}

/** An id of such an EHR is a token. One of an earlier secret key becomes one of the newest. */
function tokenRule({ patientTokens: { open, seal } }: EhrConnection): ValueRule {
  return {
    normalise(token) {
      const id = open(token);
      return id === undefined ? undefined : seal(id);
    },
    expected:
      'An emr_id of a patient of this EHR is one that a response of the gateway has shown. It becomes invalid when the operators give up the secret key that it was made with.',
  };
}

/** Reads the resource identifier at this place of the request, by the rules of the EHR. */
export function resourceIdentifier(
  text: string,
  place: Place,
  ehr: EhrConnection,
  readHeader: ReadHeader,
): ResourceIdentifier {
  const policy = { types: ehr.capabilities.resourceIdentifierTypes, ...ehr.numbers };
  return atPlace(place, () => readResourceIdentifier(text, policy, readHeader));
}

function atPlace<Result>(place: Place, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof IdentifierError)) throw error;
    const at: Place = error.header === undefined ? place : { in: 'header', header: error.header };
    throw problemAt(at, error.reason, error.detail);
  }
}

/** Reads the headers of a request that may hold identifiers. Collects them at the first use, because few requests refer to one. */
export function headerReader({ raw }: FastifyRequest, allowed: ReadonlySet<string>): ReadHeader {
  let sent: ReadonlyMap<string, readonly string[] | undefined> | undefined;
  return (name) => {
    if (!isReferable(name, allowed)) return undefined;
    sent ??= new Map(Object.entries(raw.headersDistinct));
    return sent.get(name) ?? [];
  };
}
