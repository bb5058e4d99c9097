import {
  type AppointmentWrite,
  type Connector,
  type ConnectorContext,
  ConnectorError,
  type StatelessConnectorModule,
} from '@crossward/connector-kit';
import { findAppointments, listAppointments } from './appointment-reads.ts';
import { runCheckedWrite } from './booking/checked-create.ts';
import { afterWriting, unknownOutcome } from './booking/lost-race.ts';
import { changesOf, chooseMode } from './booking/mode.ts';
import { NotAtomic } from './booking/not-atomic.ts';
import { runOperations } from './booking/operations.ts';
import { runSlotClaims } from './booking/slot-claim.ts';
import { runTransaction } from './booking/transaction.ts';
import { changeAppointments, type Execute } from './booking/write.ts';
import { readServerFacts } from './capability-statement.ts';
import { connect, type FhirConnection, signIn } from './connection.ts';
import { findOperation } from './operation-results.ts';
import { findPatient } from './patients.ts';
import { probeFhirR4 } from './probe.ts';
import { endRunOutHolds } from './run-out-holds.ts';
import { type BookingMode, type FhirSettings, fhirSettings, resourcesPerChange } from './settings.ts';
import { listTimeSlots } from './time-slots.ts';

/** Any EHR that speaks FHIR R4: https://hl7.org/fhir/R4/ */
export const fhirR4Connector: StatelessConnectorModule<FhirSettings> = {
  name: 'fhir-r4',
  settingsSchema: fhirSettings,
  open: openFhirR4,
  probe: probeFhirR4,
};

async function openFhirR4(context: ConnectorContext<FhirSettings>): Promise<Connector> {
  const { settings } = context;
  const client = await signIn(context);
  const facts = await readServerFacts(client);
  const mode = await chooseMode(client, facts, settings);
  const ehr = connect(context, client, facts, mode);
  const changes = changesOf(mode, facts, settings);
  const mostChanges = changesAtOnce(mode, settings);
  return {
    capabilities: {
      patientIdentifierTypes: ehr.patientIdentifierTypes,
      resourceIdentifierTypes: ehr.resourceIdentifierTypes,
      changes,
      transactions: mode === 'transaction',
      ...(mostChanges > 1 && Number.isFinite(mostChanges) ? { changesPerTransaction: mostChanges } : {}),
      sendsCodes: false,
    },
    findPatient: (identifier) => findPatient(ehr, identifier),
    findResource: async (careUnit, { type, value }) => {
      const { resources } = await ehr.directory.of(careUnit);
      return resources.find((it) => it.identifiers.some((own) => own.type === type && own.value === value)) ?? null;
    },
    listResources: async (careUnit) => (await ehr.directory.of(careUnit)).resources,
    listHealthcareServices: async (careUnit) =>
      (await ehr.directory.of(careUnit)).services.map(({ id, name, durationMinutes }) => ({
        id,
        name,
        durationMinutes,
      })),
    listTimeSlots: (query) => listTimeSlots(ehr, query),
    findAppointments: (careUnit, ids) => findAppointments(ehr, careUnit, ids),
    listAppointments: (query) => listAppointments(ehr, query),
    ...(mode === 'none' ? {} : { changeAppointments: writer(ehr, mode, changes, mostChanges) }),
    ...(ehr.operationLookup
      ? { findOperation: (careUnit, operationId) => findOperation(ehr, careUnit, operationId) }
      : {}),
  };
}

const executes: Record<Exclude<BookingMode, 'none'>, Execute> = {
  transaction: runTransaction,
  slot_claim: runSlotClaims,
  operations: runOperations,
  create: runCheckedWrite,
};

/** How many changes are surely done in one step. */
function changesAtOnce(mode: BookingMode, { booking: { transaction_size } = {} }: FhirSettings): number {
  if (mode !== 'transaction') return 1;
  return transaction_size === undefined ? Number.POSITIVE_INFINITY : Math.floor(transaction_size / resourcesPerChange);
}

function writer(
  ehr: FhirConnection,
  mode: Exclude<BookingMode, 'none'>,
  kinds: readonly string[],
  mostChanges: number,
): Connector['changeAppointments'] & {} {
  let isAtomic = true;
  return async (write: AppointmentWrite) => {
    if (!isAtomic) return refuseTransaction(ehr, write);
    const isHold = write.changes.some((change) => change.kind === 'create' && change.holdUntil !== null);
    if (write.changes.some(({ kind }) => !kinds.includes(kind)) || (isHold && !kinds.includes('confirm'))) {
      throw new ConnectorError('unsupported', 'This EHR cannot change appointments like that');
    }
    if (write.changes.length > mostChanges) {
      throw new ConnectorError('unsupported', 'This EHR does not take so many changes at a time');
    }
    try {
      await endRunOutHolds(ehr, write);
      return await changeAppointments(ehr, write, executes[mode]);
    } catch (error) {
      // A server that has been seen to do half of a transaction gets no other.
      if (error instanceof NotAtomic) isAtomic = false;
      throw error;
    }
  };
}

/** What an earlier call has left and could not undo is still there. */
async function refuseTransaction(ehr: FhirConnection, { careUnit, operationId }: AppointmentWrite): Promise<never> {
  const left = ehr.operationLookup ? await afterWriting(() => findOperation(ehr, careUnit, operationId)) : null;
  if (left) throw unknownOutcome();
  throw new ConnectorError('rejected', 'The EHR runs transactions as batches, and gets no more of them');
}
