import { appointmentChanges } from './appointment-changes.ts';
import { appointmentsCreate } from './appointments-create.ts';
import { appointmentsRead } from './appointments-read.ts';
import { appointmentsCancel } from './cancel.ts';
import type { Capability } from './check.ts';
import { clockChanges } from './clock-changes.ts';
import { concurrentEdits } from './concurrent-edits.ts';
import { documents } from './documents.ts';
import { failedReads } from './failed-reads.ts';
import { failingEhr } from './failing-ehr.ts';
import { healthcareServices } from './healthcare-services.ts';
import { holds } from './holds.ts';
import { lostAnswers } from './lost-answers.ts';
import { medicalNotes } from './medical-notes.ts';
import { operationIds } from './operation-ids.ts';
import { paging } from './paging.ts';
import { patientCreation, patientSearch } from './patient-registration.ts';
import { patients } from './patients.ts';
import { races } from './races.ts';
import { references } from './references.ts';
import { refusals } from './refusals.ts';
import { resources } from './resources.ts';
import { schedules } from './schedules.ts';
import { staffInBetween } from './staff-in-between.ts';
import { timeSlots } from './time-slots.ts';
import { transactions } from './transactions.ts';
import { unclaimed } from './unclaimed.ts';
import { unreadableRecords } from './unreadable-records.ts';
import { appointmentsUpdate } from './update.ts';

/** All capabilities, in the order of reports. */
export const capabilities: readonly Capability[] = [
  patients,
  patientSearch,
  patientCreation,
  resources,
  healthcareServices,
  timeSlots,
  schedules,
  appointmentsRead,
  appointmentsCreate,
  appointmentsUpdate,
  appointmentsCancel,
  holds,
  transactions,
  operationIds,
  failingEhr,
  failedReads,
  lostAnswers,
  refusals,
  unreadableRecords,
  references,
  races,
  clockChanges,
  paging,
  concurrentEdits,
  staffInBetween,
  appointmentChanges,
  medicalNotes,
  documents,
  unclaimed,
];
