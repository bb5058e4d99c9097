import type { LeftOutRecord } from '@crossward/connector-kit';
import { connectorInProcess } from '@crossward/connector-kit/conformance';
import { describeConformance } from '@crossward/connector-kit/conformance/vitest';
import { connector } from './connector.ts';
import { startEhr } from './ehr-server.ts';
import { spoiledAnswers } from './spoiled-answers.ts';

const careUnit = { id: 'clinic', timeZone: 'Europe/London' };
const otherCareUnit = { id: 'annex', timeZone: 'Europe/London' };

describeConformance('the clinic', async () => {
  const server = await startEhr();
  const { http, oddRecords } = spoiledAnswers();
  const leftOut: LeftOutRecord[] = [];
  const open = () =>
    connector.open({
      emr: 'clinic',
      settings: { base_url: server.url },
      careUnits: [careUnit, otherCareUnit],
      http,
      now: () => new Date(),
      leftOut: (record) => void leftOut.push(record),
    });
  const second = await connectorInProcess(new URL('./second.ts', import.meta.url), server.url);
  return {
    name: 'clinic',
    connector: await open(),
    second,
    careUnit,
    otherCareUnit,
    facts: {
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
    },
    oddRecords: { ...oddRecords, leftOut },
    async close() {
      await second.close();
      await server.close();
    },
  };
});
