import { randomUUID } from 'node:crypto';
import type { AppointmentChange, Connector, DirectChanges, LeftOutRecord } from '@crossward/connector-kit';
import { connectorInProcess, type Facts, type Subject } from '@crossward/connector-kit/conformance';
import { connector } from './connector.ts';
import { startEhr } from './ehr-server.ts';
import { careUnits, contextFor } from './second.ts';
import { spoiledAnswers } from './spoiled-answers.ts';

const day = 24 * 60 * 60 * 1000;

/** For the tests: what the EHR has. */
export const facts: Facts = {
  patient: [
    { type: 'emr_id', value: '1001' },
    { type: 'nhs_number', value: '9990000018' },
  ],
  otherPatientId: '1002',
  numbersAsWritten: [{ type: 'nhs_number', value: '9990000018' }],
  phonesAsWritten: { 1001: '+447700900001' },
  unknownPatients: [
    { type: 'emr_id', value: '9999' },
    { type: 'nhs_number', value: '9990000026' },
  ],
  foreignResourceId: 'cy',
  oneSlotOnly: true,
  window: { start: new Date(Date.now() + day), end: new Date(Date.now() + 22 * day) },
};

/** For the tests: the connector, its EHR, and what the kit has to know about it. */
export async function clinicSubject(): Promise<Subject> {
  // A token ends in the middle of something.
  const server = await startEhr({ usesOfToken: 25 });
  const { http, oddRecords } = spoiledAnswers();
  const leftOut: LeftOutRecord[] = [];
  const [careUnit, otherCareUnit] = careUnits;
  const second = await connectorInProcess(new URL('./second.ts', import.meta.url), server.url);
  return {
    name: 'clinic',
    connector: await connector.open(contextFor(server.url, { http, leftOut: (record) => void leftOut.push(record) })),
    second,
    careUnit,
    otherCareUnit,
    facts,
    directChanges: staffOf(await connector.open(contextFor(server.url))),
    oddRecords: { ...oddRecords, leftOut },
    async close() {
      await second.close();
      await server.close();
    },
  };
}

/** For the tests: the EHR's own staff, who use its interface as the connector does. */
export function staffOf({ changeAppointments }: Connector): DirectChanges {
  const [careUnit] = careUnits;
  const make = async (change: AppointmentChange) => {
    const [made] = (await changeAppointments?.({ operationId: randomUUID(), careUnit, changes: [change] })) ?? [];
    if (!made) throw new Error('Staff have changed nothing');
    return made;
  };
  return {
    cancel: async ({ id }) => void (await make({ kind: 'cancel', appointmentId: id })),
    move: async ({ id }, time) => void (await make({ kind: 'update', appointmentId: id, time })),
    comment: async ({ id }, comment) => void (await make({ kind: 'update', appointmentId: id, comment })),
    async take(time) {
      const { id } = await make({ kind: 'create', ...time, patientId: '1002', comment: null, holdUntil: null });
      return async () => void (await make({ kind: 'cancel', appointmentId: id }));
    },
    overbook: async () => null,
  };
}
