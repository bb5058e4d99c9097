import { randomUUID } from 'node:crypto';
import type { AppointmentChange, Connector, DirectChanges, LeftOutRecord } from '@crossward/connector-kit';
import { connectorInProcess, type Facts, type Subject, timedChanges } from '@crossward/connector-kit/conformance';
import { connector } from './connector.ts';
import type { Ehr } from './ehr.ts';
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
  ambiguousPatients: [{ type: 'nhs_number', value: '9990000034' }],
  inactivePatients: [{ type: 'emr_id', value: '1005' }],
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
    directChanges: staffOf(await connector.open(contextFor(server.url)), server.ehr),
    timedChanges: timedChanges(({ id }, note, at) => server.ehr.touch(id, { note }, at)),
    oddRecords: { ...oddRecords, leftOut },
    async close() {
      await second.close();
      await server.close();
    },
  };
}

/** For the tests: the EHR's own staff, who use its interface as the connector does. */
export function staffOf({ changeAppointments }: Connector, ehr: Ehr): DirectChanges {
  const [careUnit] = careUnits;
  const make = async (change: AppointmentChange) => {
    const [made] = (await changeAppointments?.({ operationId: randomUUID(), careUnit, changes: [change] })) ?? [];
    if (!made) throw new Error('Staff have changed nothing');
    return made;
  };
  return {
    cancel: async ({ id }) => ehr.touch(id, { status: 'cancelled' }),
    move: async ({ id }, time) => void (await make({ kind: 'update', appointmentId: id, time })),
    comment: async ({ id }, comment) => void (await make({ kind: 'update', appointmentId: id, comment })),
    async take(time) {
      const { id } = await make({ kind: 'create', ...time, patientId: '1002', comment: null, holdUntil: null });
      return async () => void (await make({ kind: 'cancel', appointmentId: id }));
    },
    attend: async ({ id }, attendance) => ehr.touch(id, { status: attendance }),
    delete: async ({ id }) => ehr.touch(id, { status: 'deleted' }),
    overbook: async () => null,
  };
}
