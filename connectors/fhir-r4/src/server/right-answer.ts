import { ConnectorError } from '@crossward/connector-kit';
import {
  type FhirAppointment,
  type FhirDocumentReference,
  type FhirResource,
  localReference,
  referenceTo,
} from '../fhir.ts';
import { readInstant } from '../mappers/instants.ts';

/*
 * A faulty proxy or server can answer a request with the response to another one, such as a surplus response on a
 * connection that is kept alive: https://www.rfc-editor.org/rfc/rfc9112#section-9.2. So every resource is compared with
 * what was asked for.
 */

/** @throws ConnectorError unless the resource has the type and the id of the reference that was read */
export function assertIsRead(resource: FhirResource, reference: string): void {
  const [type, id] = reference.split('/');
  // `metadata` has no id.
  if (id === undefined) return;
  if (resource.resourceType !== type) {
    throw new ConnectorError('rejected', `The EHR sent another type of resource than ${type}`);
  }
  // The id is required: https://hl7.org/fhir/R4/http.html#read
  if (resource.id !== id) throw new ConnectorError('rejected', `The EHR sent another ${type} than the one requested`);
}

/** @throws ConnectorError if a search by ids found a resource with another id */
export function assertAreWanted(type: string, ids: readonly string[], found: readonly FhirResource[]): void {
  const wanted = new Set(ids);
  if (found.every(({ id }) => wanted.has(id ?? ''))) return;
  throw new ConnectorError('rejected', `The EHR sent another ${type} than those requested`);
}

/**
 * Whether a resource can be what a write has stored: it has the type and the id that were written, and names the same
 * patients and the same start, as far as they were written.
 *
 * @param written the resource as it was sent. Without an id, the server has assigned one.
 */
export function isStored(written: FhirResource, stored: FhirResource): boolean {
  if (stored.resourceType !== written.resourceType) return false;
  if (written.id !== undefined && stored.id !== written.id) return false;
  const [start, storedStart] = [startOf(written), startOf(stored)];
  const isOtherTime = start !== undefined && storedStart !== undefined && start !== storedStart;
  const patients = patientsOf(written);
  return !isOtherTime && (patients === '' || patientsOf(stored) === patients);
}

/**
 * Checks the resource and the `Location` in the response to a write. What was written may be stored or not: the response
 * says nothing about it.
 *
 * @throws ConnectorError `outcome_unknown` if they are of another resource
 */
export function assertIsStored(written: FhirResource, { ok, resource, location }: StoredFacts): void {
  if (!ok) return;
  const isOther = resource !== undefined && !isStored(written, resource);
  const known = written.id ?? resource?.id;
  const isElsewhere =
    location !== undefined && known !== undefined && location !== referenceTo({ ...written, id: known });
  if (!isOther && !isElsewhere) return;
  throw new ConnectorError('outcome_unknown', `The EHR responded to a write with another ${written.resourceType}`);
}

interface StoredFacts {
  readonly ok: boolean;
  readonly resource: FhirResource | undefined;
  /** `Appointment/17`, from the `Location` header. */
  readonly location: string | undefined;
}

function patientsOf(resource: FhirResource): string {
  const { participant = [] } = resource as FhirAppointment;
  const { subject } = resource as FhirDocumentReference;
  const named = [...participant.map(({ actor }) => actor), subject].flatMap((it) => localReference(it) ?? []);
  return [...new Set(named.filter((it) => it.startsWith('Patient/')))].sort().join();
}

/** In seconds. A server may store whole ones. `undefined`: no start, or no valid one. */
function startOf(resource: FhirResource): number | undefined {
  const at = readInstant((resource as FhirAppointment).start)?.getTime();
  return at === undefined ? undefined : Math.floor(at / 1000);
}
