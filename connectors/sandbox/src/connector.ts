import {
  batchedAcrossCareUnits,
  type Connector,
  changeKinds,
  type DatabaseConnectorModule,
  type DatabaseContext,
} from '@crossward/connector-kit';
import { Kysely, PostgresDialect, PostgresQueryCompiler } from 'kysely';
import { listAppointmentChanges } from './appointment-changes.ts';
import { findAppointments, listAppointments } from './appointment-reads.ts';
import { changeAppointments, findOperation } from './appointment-writes.ts';
import { inPortVocabulary, writeInPortVocabulary } from './database-errors.ts';
import { createDirectory } from './directory.ts';
import {
  createDocument,
  findDocument,
  findDocumentWrite,
  listDocuments,
  readDocument,
  withdrawDocument,
} from './documents.ts';
import { withFaults } from './faults.ts';
import { medicalNotes } from './medical-notes.ts';
import { seedSchedules } from './opening-hours.ts';
import { createPatient, findCreated, searchPatients } from './patients.ts';
import { createScheduleCache } from './schedule-cache.ts';
import { findSchedule, findScheduleWrite, listSchedules } from './schedule-reads.ts';
import { withdrawSchedule } from './schedule-withdrawal.ts';
import { addScheduleException, createSchedule, endSchedule } from './schedule-writes.ts';
import { type SandboxSettings, sandboxSettings } from './settings.ts';
import type { SandboxTables } from './tables.ts';
import { listTimeSlots } from './time-slots.ts';

export { type SandboxFault, sandboxFaults } from './faults.ts';

/** A small but complete EHR with synthetic people, stored in the gateway's database. */
export const sandboxConnector: DatabaseConnectorModule<SandboxSettings> = {
  name: 'sandbox',
  title: 'Sandbox with synthetic people',
  settingsSchema: sandboxSettings,
  migrations: new URL('./migrations/', import.meta.url),
  open: openSandbox,
};

/** For all sandboxes: it has a hundred functions, and compiles one statement at a time. */
const compiler = new PostgresQueryCompiler();

class Dialect extends PostgresDialect {
  override createQueryCompiler(): PostgresQueryCompiler {
    return compiler;
  }
}

/** One statement can have many ids. */
const idsPerLookUp = 500;

async function openSandbox({
  emr,
  settings,
  careUnits,
  database,
}: DatabaseContext<SandboxSettings>): Promise<Connector> {
  const db = new Kysely<SandboxTables>({ dialect: new Dialect({ pool: database }) });
  const directory = createDirectory(settings.country, careUnits, (identifier) =>
    inPortVocabulary(() => findCreated(db, emr, identifier)),
  );
  await seedSchedules(db, emr, careUnits, directory);
  const schedules = createScheduleCache(db, emr);
  return {
    capabilities: {
      patientIdentifierTypes: directory.patientIdentifierTypes,
      resourceIdentifierTypes: directory.resourceIdentifierTypes,
      changes: changeKinds,
      transactions: true,
    },
    ...withFaults({
      findPatient: directory.findPatient,
      changeAppointments: (write) =>
        writeInPortVocabulary(() => changeAppointments(db, emr, directory, schedules, write)),
    }),
    findResource: async (careUnit, identifier) => directory.findResource(careUnit.id, identifier) ?? null,
    listResources: async (careUnit) => directory.resourcesOf(careUnit.id),
    listHealthcareServices: async () => directory.services,
    listTimeSlots: (query) => inPortVocabulary(() => listTimeSlots(db, emr, schedules, query)),
    findAppointments: batchedAcrossCareUnits(
      (ids) => inPortVocabulary(() => findAppointments(db, emr, ids)),
      idsPerLookUp,
    ),
    listAppointments: (query) => inPortVocabulary(() => listAppointments(db, emr, query)),
    listAppointmentChanges: (query) => inPortVocabulary(() => listAppointmentChanges(db, emr, query)),
    findOperation: (_careUnit, operationId) => inPortVocabulary(() => findOperation(db, emr, operationId)),
    searchPatients: (search) => inPortVocabulary(() => searchPatients(db, emr, directory, search)),
    createPatient: (creation) => writeInPortVocabulary(() => createPatient(db, emr, directory, creation)),
    ...medicalNotes(db, emr, directory),
    listDocuments: (query) => inPortVocabulary(() => listDocuments(db, emr, query)),
    findDocument: (...which) => inPortVocabulary(() => findDocument(db, emr, ...which)),
    readDocument: (...which) => inPortVocabulary(() => readDocument(db, emr, ...which)),
    createDocument: (write) => writeInPortVocabulary(() => createDocument(db, emr, directory, write)),
    findDocumentWrite: (_careUnit, operationId) => inPortVocabulary(() => findDocumentWrite(db, emr, operationId)),
    withdrawDocument: (_careUnit, operationId) => writeInPortVocabulary(() => withdrawDocument(db, emr, operationId)),
    listSchedules: (query) => inPortVocabulary(() => listSchedules(db, emr, query)),
    findSchedule: (careUnit, resourceId, id) => inPortVocabulary(() => findSchedule(db, emr, careUnit, resourceId, id)),
    createSchedule: (write) => writeInPortVocabulary(() => createSchedule(db, emr, directory, write)),
    endSchedule: (write) => writeInPortVocabulary(() => endSchedule(db, emr, write)),
    addScheduleException: (write) => writeInPortVocabulary(() => addScheduleException(db, emr, write)),
    findScheduleWrite: (careUnit, id) => inPortVocabulary(() => findScheduleWrite(db, emr, careUnit, id)),
    withdrawSchedule: (careUnit, id) => writeInPortVocabulary(() => withdrawSchedule(db, emr, careUnit, id)),
  };
}
