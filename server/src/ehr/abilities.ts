import { patientSearchKeys } from '@crossward/connector-kit';
import type { EmrCheck } from './check-connection.ts';

type Claims = NonNullable<EmrCheck['claims']>;

/** Something that callers can do in an EHR through the gateway, or cannot. */
export interface Ability {
  readonly what: string;
  readonly isThere: boolean;
  /** How, or what happens instead. Can be empty. */
  readonly how: string;
}

/** What can be done in an EHR through the gateway. What is not there is 501 `operation_unsupported`. */
export function abilitiesOf(claims: Claims): readonly Ability[] {
  const { operations, changes, passesThrough } = claims;
  const offers = (operation: string) => operations.includes(operation);
  const ability = (what: string, isThere: boolean, how: string | false = '', instead = '') => ({
    what,
    isThere,
    how: isThere ? how || '' : instead,
  });
  const ofOne = 'of one patient at a time';
  return [
    ability('look up a patient', offers('findPatient') || passesThrough !== undefined, patientsBy(claims)),
    ability(
      'search for patients',
      offers('searchPatients'),
      `by ${(claims.patientSearchBy ?? patientSearchKeys).join(', or ')}`,
    ),
    ability('create a patient', offers('createPatient')),
    ability('list resources', offers('listResources'), `by ${claims.resourceIdentifierTypes.join(', ')}`),
    ability('list healthcare services', offers('listHealthcareServices')),
    ability('list free times', offers('listTimeSlots'), claims.slotsByPatient === 'required' && ofOne),
    ability('list appointments', offers('listAppointments'), claims.appointmentsByPatient === 'required' && ofOne),
    ability('book', changes.includes('create')),
    ability('move', changes.includes('update') || claims.rebooks === true, movedHow(claims)),
    ability('cancel', changes.includes('cancel')),
    ability(
      'hold a time until a code is entered',
      changes.includes('confirm'),
      '',
      'the gateway keeps a draft; somebody else may take the time first',
    ),
    ability(
      'make several changes, all or nothing',
      claims.transactions,
      claims.changesPerTransaction !== undefined && allOrNothing(claims),
      'the gateway makes one after the other, and takes them back if one fails',
    ),
    ability('report changes that staff make', offers('listAppointmentChanges')),
    ability('read medical notes', offers('listMedicalNotes')),
    ability('write medical notes', offers('createMedicalNote')),
    ability('read documents', offers('listDocuments')),
    ability('write documents', offers('createDocument')),
    ability('read schedules', offers('listSchedules')),
    ability('write schedules', offers('createSchedule')),
  ];
}

/** By what patients are looked up. */
export function patientsBy({ patientIdentifierTypes, passesThrough }: Claims): string {
  return `by ${patientIdentifierTypes.join(', ')}${passesThrough ? '; the EHR looks up nobody' : ''}`;
}

/** Whether several changes are one in the EHR. */
export function allOrNothing({ transactions, changesPerTransaction: most }: Claims): string {
  if (!transactions) return 'no; the gateway compensates';
  return most === undefined ? 'yes' : `up to ${most} changes; beyond that, the gateway compensates`;
}

function movedHow({ rebooks, movesToNewId }: Claims): string {
  if (rebooks) return 'by booking the new time and cancelling the former appointment: a new id';
  return movesToNewId ? 'in one step, with a new id' : 'the id stays';
}
