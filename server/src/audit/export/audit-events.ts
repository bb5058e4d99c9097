import { type Reason, reasons } from '../../problems/reasons.ts';
import type { StoredEntry } from '../linked-accesses.ts';
import { interactionOf } from './interactions.ts';
import { concerns, type ExportedPatient } from './named-patient.ts';

/** https://profiles.ihe.net/ITI/BALP/1.1.4/: the names of its profiles end with what is done. */
const profiles = 'https://profiles.ihe.net/ITI/BALP/StructureDefinition/IHE.BasicAudit.';
const terminology = 'http://terminology.hl7.org/CodeSystem';

type Coding = { readonly system: string; readonly code: string; readonly display?: string };
const coding = (system: string, code: string, display?: string): Coding => ({
  system,
  code,
  ...(display && { display }),
});

const source = coding('http://dicom.nema.org/resources/ontology/DCM', '110153', 'Source Role ID');
const destination = coding('http://dicom.nema.org/resources/ontology/DCM', '110152', 'Destination Role ID');
const person = coding(`${terminology}/audit-entity-type`, '1', 'Person');
const systemObject = coding(`${terminology}/audit-entity-type`, '2', 'System Object');
const role = {
  patient: coding(`${terminology}/object-role`, '1', 'Patient'),
  resource: coding(`${terminology}/object-role`, '4', 'Domain Resource'),
  query: coding(`${terminology}/object-role`, '24', 'Query'),
};

/** The trail has no addresses. The profiles want an element. */
const unknownNetwork = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
};

/** The profile, the action and the code of each interaction. A search executes a query (BALP, Query). */
const ofInteraction = {
  read: { profile: 'Read', action: 'R' },
  'search-type': { profile: 'Query', action: 'E' },
  create: { profile: 'Create', action: 'C' },
  patch: { profile: 'Update', action: 'U' },
  update: { profile: 'Update', action: 'U' },
  operation: { profile: undefined, action: 'E' },
} as const;

/**
 * An entry as FHIR R4 AuditEvents by IHE BALP: one for each patient, because a profile has room for one. It names a profile if the
 * access succeeded and the profile fits; what failed, or was only tried, follows the same pattern (BALP, "failures").
 *
 * A patient is the keyed hash of the trail, or the EHR's own id if the operator has named the patient.
 */
export function auditEvents(entry: StoredEntry, named?: ExportedPatient): object[] {
  const { isOfSeveral } = interactionOf(entry.operation);
  const [first, ...others] = entry.patient_hashes;
  const of = (patient: Buffer | undefined, more: readonly Buffer[], index: number) =>
    auditEvent(entry, { id: idOf(entry, index), patient: patient && patientEntity(entry, patient, more, named) });
  return isOfSeveral && first ? entry.patient_hashes.map((it, index) => of(it, [], index)) : [of(first, others, 0)];
}

function idOf({ chain_id, position }: StoredEntry, index: number): string {
  return index === 0 ? `${chain_id}-${position}` : `${chain_id}-${position}-${index + 1}`;
}

interface About {
  readonly id: string;
  readonly patient: ReturnType<typeof patientEntity> | undefined;
}

function auditEvent(entry: StoredEntry, { id, patient }: About): object {
  const { code, type } = interactionOf(entry.operation);
  const made = entry.outcome === 'success' || entry.outcome === 'replayed';
  // What was only tried, or looked up by the gateway, has done none of the other things.
  const interaction = made || isProblem(entry.outcome) ? code : 'operation';
  const { profile, action } = ofInteraction[interaction];
  const object = objectEntity(entry, interaction, type, patient);
  const conforms = made && profile !== undefined && object !== undefined;
  const isRead = interaction === 'read';
  return {
    resourceType: 'AuditEvent',
    id,
    ...(conforms && { meta: { profile: [`${profiles}${patient ? 'Patient' : ''}${profile}`] } }),
    extension: [{ url: 'urn:crossward:export-position', valueString: String(entry.export_position) }],
    type: coding(`${terminology}/audit-event-type`, 'rest', 'Restful Operation'),
    subtype: [
      coding('http://hl7.org/fhir/restful-interaction', interaction),
      coding('urn:crossward:operation', entry.operation),
    ],
    action,
    recorded: entry.at.toISOString(),
    outcome: outcomeOf(entry.outcome),
    ...(entry.outcome !== 'success' && { outcomeDesc: entry.outcome }),
    agent: [
      {
        type: { coding: [isRead ? destination : source] },
        who: { identifier: { system: 'urn:crossward:client', value: entry.client_id } },
        requestor: entry.actor_kind === 'client',
        network: unknownNetwork,
      },
      {
        type: { coding: [isRead ? source : destination] },
        who: { display: 'Crossward' },
        requestor: entry.actor_kind === 'background',
        network: unknownNetwork,
      },
      ...(entry.actor_kind === 'patient_page' ? [holderOfLink(interaction)] : []),
    ],
    source: {
      site: `${entry.emr}/${entry.care_unit_id}`,
      observer: { identifier: { system: 'urn:crossward:audit-chain', value: entry.chain_id }, display: 'Crossward' },
      type: [coding(`${terminology}/security-source-type`, '4', 'Application Server')],
    },
    entity: [...(patient ? [patient] : []), ...(object ? [object] : []), transactionEntity(entry)],
  };
}

/** A person with the link to the page for patients, whom the gateway does not know. */
function holderOfLink(interaction: keyof typeof ofInteraction) {
  const [code, display] = interaction === 'read' ? ['IRCP', 'information recipient'] : ['AUT', 'author (originator)'];
  return {
    type: { coding: [coding(`${terminology}/v3-ParticipationType`, code as string, display)] },
    who: { display: 'Holder of the link to the page for patients' },
    requestor: true,
  };
}

function patientEntity(
  { emr }: StoredEntry,
  hash: Buffer,
  others: readonly Buffer[],
  named: ExportedPatient | undefined,
) {
  const isNamed = named !== undefined && concerns({ patient_hashes: [hash, ...others] }, named);
  const identifier = isNamed
    ? { system: `urn:crossward:patient:${emr}`, value: named.emrId }
    : { system: 'urn:crossward:patient-hash', value: hash.toString('hex') };
  return {
    what: { type: 'Patient', identifier },
    type: person,
    role: role.patient,
    ...(others.length > 0 && {
      detail: others.map((it) => ({ type: 'other hash of the patient', valueString: it.toString('hex') })),
    }),
  };
}

/** The query, or the record: the first one, with the ids of the others. `undefined`: the trail has none. */
function objectEntity(
  { operation, emr, record_ids: [first, ...others] }: StoredEntry,
  interaction: keyof typeof ofInteraction,
  type: string,
  patient: About['patient'],
) {
  // The trail has no URL, whose parameters can be identifiers.
  if (interaction === 'search-type') {
    return { type: systemObject, role: role.query, query: Buffer.from(operation).toString('base64') };
  }
  const detail = others.map((id) => ({ type: `other ${type}`, valueString: id }));
  const what =
    first === undefined
      ? type === 'Patient' && patient?.what
      : { type, identifier: { system: `urn:crossward:record:${emr}`, value: first } };
  return what ? { what, type: systemObject, role: role.resource, ...(detail.length > 0 && { detail }) } : undefined;
}

function transactionEntity({ request_id, operation_id }: StoredEntry) {
  return {
    what: { identifier: { value: request_id } },
    type: coding('https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType', 'XrequestId'),
    ...(operation_id !== null && { detail: [{ type: 'write', valueString: operation_id }] }),
  };
}

function isProblem(outcome: string): outcome is Reason {
  return Object.hasOwn(reasons, outcome);
}

/** http://terminology.hl7.org/CodeSystem/audit-event-outcome */
function outcomeOf(outcome: string): '0' | '4' | '8' {
  if (!isProblem(outcome)) return '0';
  return reasons[outcome].origin === 'caller' ? '4' : '8';
}
