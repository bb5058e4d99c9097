import { afterAll, expect, test } from 'vitest';
import { connector as clinic } from '../../template-booking/src/connector.ts';
import { startEhr } from '../../template-booking/src/ehr-server.ts';
import { contextFor } from '../../template-booking/src/second.ts';
import { facts } from '../../template-booking/src/subject.ts';
import { type Connector, ConnectorError, type EhrHttp } from '../index.ts';
import { outcomeOf } from './broken.test-support.ts';
import { plainHttp } from './plain-http.ts';
import type { Subject } from './subject.ts';

const server = await startEhr();
afterAll(() => server.close());
const careUnit = { id: 'clinic', timeZone: 'Europe/London' };

type Right = Required<Connector>;

let lastAnswer = '';

/** The connector of the template, with a defect. */
async function subject(defects: (right: Right) => Partial<Connector>): Promise<Subject> {
  const plain = plainHttp();
  const http: EhrHttp = {
    ...plain,
    async send(request) {
      const response = await plain.send(request);
      lastAnswer = response.text;
      return response;
    },
  };
  const right = (await clinic.open(contextFor(server.url, { http }))) as Right;
  return { name: 'clinic', connector: { ...right, ...defects(right) }, careUnit, facts };
}

const failing = ['failing-ehr', 'no read takes an EHR that fails for one that has nothing'] as const;
const long = ['time-slots', 'lists in a long range what it lists in its last part'] as const;

test.each([failing, long])('the connector of the template passes: %s: %s', async (capability, check) => {
  const result = await outcomeOf(await subject(() => ({})), capability, check);
  expect(result).toMatchObject({ outcome: 'passed', reason: null });
});

const twoWeeks = 14 * 24 * 60 * 60 * 1000;

test.each<[string, (right: Right) => Partial<Connector>, readonly [string, string], string]>([
  [
    'takes an error for a patient whom nobody knows',
    ({ findPatient }) => ({ findPatient: (it) => findPatient(it).catch(() => null) }),
    failing,
    'findPatient returned a result',
  ],
  [
    'takes an error for a list without appointments',
    ({ listAppointments }) => ({ listAppointments: (it) => listAppointments(it).catch(() => []) }),
    failing,
    'listAppointments returned a result',
  ],
  [
    'takes the page of a proxy with status 404 for nobody',
    ({ findPatient }) => ({
      findPatient: (it) =>
        findPatient(it).catch((error: ConnectorError) => {
          if (error.refusal?.status === 404) return null;
          throw error;
        }),
    }),
    failing,
    'a page in HTML with status 404',
  ],
  [
    'repeats what the EHR says',
    ({ findPatient }) => ({
      findPatient: (it) =>
        findPatient(it).catch((cause: unknown) => {
          throw new ConnectorError('rejected', `The EHR said ${lastAnswer}`, { cause });
        }),
    }),
    failing,
    'findPatient put text of the EHR into the message',
  ],
  [
    'reads the first two weeks of a range',
    ({ listTimeSlots }) => ({
      listTimeSlots: ({ end, ...it }) =>
        listTimeSlots({ ...it, end: new Date(Math.min(end.getTime(), it.start.getTime() + twoWeeks)) }),
    }),
    long,
    'missing in a list of the whole time',
  ],
])('the kit catches a connector that %s', async (_, defects, [capability, check], reason) => {
  const result = await outcomeOf(await subject(defects), capability, check);
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(reason) });
});
